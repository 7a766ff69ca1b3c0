import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  getOperationAST,
  type SelectionSetNode,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Logger } from 'pino'
import { Lane } from '../../db/operation.ts'
import type { Caller, Need } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { DirectStream, type Subscriber } from '../../live/direct-stream.ts'
import { executeEvent, masked } from '../execute.ts'
import { maskError } from '../masking.ts'
import { outletOf } from '../outlet.ts'
import { contextOf } from '../principal.ts'
import { type Touch, touchAside } from '../session-use.ts'
import { type EndReason, type Streams, stillReaches } from '../streams.ts'
import { Subscription } from '../subscription.ts'

export type SubscriptionsOptions = {
  streams: Streams
  /** The caller as they stand now, for one event; null when the session holds no longer. */
  refresh(caller: Caller): Promise<Caller | null>
  touch: Touch
  log: Logger
}

const REASONS = { credential: 'UNAUTHENTICATED', standing: 'FORBIDDEN' } as const

/**
 * Subscriptions of every transport. The source is made in a read lane of the caller's; then each event has a fresh caller,
 * context, operation and snapshot (PLAT-5), and its errors are masked.
 */
export function useSubscriptions(options: SubscriptionsOptions): Plugin {
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args) => open(args, options))
    },
  }
}

async function open(args: ExecutionArgs, options: SubscriptionsOptions): Promise<Subscription | ExecutionResult> {
  const { streams, log } = options
  const context = args.contextValue as Context
  const { caller, requestId } = context
  const outlet = outletOf(context)
  if (!outlet) {
    throw requestError('BAD_REQUEST', { message: 'A subscription needs a WebSocket or accept: text/event-stream.' })
  }
  if (!caller) throw requestError('UNAUTHENTICATED')
  if (caller.standing === null) throw requestError('FORBIDDEN')

  const need = needOf(args)
  const end = (reason: EndReason) => subscription.end(resultOf(reason))
  let release = () => {}
  const subscription = new Subscription({
    outlet,
    execute: async (event) => {
      const now = await options.refresh(caller)
      const reason = now === null ? 'credential' : stillReaches({ caller, need }, now) ? null : 'standing'
      if (reason !== null) {
        end(reason)
        return {} // goes nowhere
      }
      return executeEvent({ ...args, rootValue: event, contextValue: freshContext(context, now) }, log)
    },
    failed: (error) => ({ errors: [maskError(error, requestId, log)] }),
    onEnd: () => release(),
  })
  try {
    const registration = streams.register({ kind: 'stream', caller, need, end })
    release = registration.release
    if (subscription.ended) {
      release() // the peer was gone before there was anything to release
      return subscription
    }
    if (outlet.connection === 'own') {
      touchAside(options.touch, caller, log.child({ requestId }), registration.heldUntil)
    }
    const source = await inReadLane(context, () => createSourceEventStream(args))
    if (!(Symbol.asyncIterator in source)) {
      subscription.end()
      return masked(source, requestId, log)
    }
    if (source instanceof DirectStream) subscription.openWith(source, subscriberOf(args))
    else subscription.pullFrom(source)
    return subscription
  } catch (error) {
    subscription.end()
    throw maskError(error, requestId, log)
  }
}

function subscriberOf({
  document,
  operationName,
  variableValues,
  contextValue,
}: ExecutionArgs): Omit<Subscriber, 'sink'> {
  return {
    document,
    operationName: operationName ?? undefined,
    variables: { ...variableValues },
    context: contextValue as Context,
  }
}

/** A subscribe resolver may write, for attaching is a write; whatever it left open is ended here. */
async function inReadLane<T>(context: Context, body: () => T | Promise<T>): Promise<T> {
  const lane = new Lane('read', scopeOf(context.caller, context.requestId))
  try {
    return await lane.run(body)
  } finally {
    await lane.end('COMMIT').catch(() => {})
  }
}

/** Nothing that belongs to one event is carried to the next. */
function freshContext({ requestId, client }: Context, caller: Caller | null): Context {
  return contextOf({ requestId, client, caller, cookies: null })
}

function resultOf(reason: EndReason): ExecutionResult | undefined {
  return reason === 'shutdown' ? undefined : { errors: [requestError(REASONS[reason])] }
}

/** What the root field asks of its caller, which streams must keep having. */
function needOf({ schema, document, operationName }: ExecutionArgs): Need {
  const operation = getOperationAST(document, operationName)
  const root = operation && rootFieldOf(document, operation.selectionSet)
  const field = root && schema.getSubscriptionType()?.getFields()[root.name.value]
  return (field?.extensions['needs'] as Need | undefined) ?? 'standing'
}

/** The one field that validation has left, also when fragments wrap it. Left out, there would be nothing to subscribe to. */
function rootFieldOf(document: DocumentNode, { selections }: SelectionSetNode): FieldNode | undefined {
  for (const selection of selections) {
    if (selection.directives?.some(({ name }) => name.value === 'skip' || name.value === 'include')) {
      throw requestError('BAD_REQUEST', { message: 'The root field of a subscription takes no @skip and no @include.' })
    }
    if (selection.kind === 'Field') return selection
    const inner =
      selection.kind === 'InlineFragment' ? selection.selectionSet : fragmentOf(document, selection.name.value)
    const found = inner && rootFieldOf(document, inner)
    if (found) return found
  }
  return undefined
}

function fragmentOf(document: DocumentNode, wanted: string): SelectionSetNode | undefined {
  for (const definition of document.definitions) {
    if (definition.kind === 'FragmentDefinition' && definition.name.value === wanted) return definition.selectionSet
  }
  return undefined
}
