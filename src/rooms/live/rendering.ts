import { execute } from '@graphql-tools/executor'
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql'
import { currentOperation } from '../../db/operation.ts'
import type { Caller } from '../../graphql/caller.ts'
import type { Audience, Context } from '../../graphql/context.ts'
import { isPerViewer } from '../../graphql/per-viewer.ts'
import { newId } from '../../lib/type-id.ts'
import type { RoomEvent } from './event-payloads.ts'
import { UnreadableError } from './unreadable.ts'

/** What subscribers ask for; equal ones share a rendering. */
export type Ask = {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operationName: string | undefined
  readonly variables: Record<string, unknown>
  /** Whether anything in it is answered for each viewer. */
  readonly perViewer: boolean
}

/** A result as peers get it, its errors masked as everywhere (transport's, given at start). */
export type Mask = (result: ExecutionResult, requestId: string) => object

/**
 * One moment of a room: what is read for one subscriber's rendering is there for the next. Lives inside one read
 * operation, which has the org, for guests their room, and no user.
 */
export class Moment {
  readonly #audience: Audience
  readonly #mask: Mask
  readonly #loads = new Map<object, unknown>()
  readonly #frames = new Map<Ask, Map<RoomEvent, Promise<string>>>()

  constructor(audience: Audience, mask: Mask) {
    this.#audience = audience
    this.#mask = mask
  }

  /** The frame of an event for one subscriber: the shared one, or one of their own where the selection depends on them. */
  frame(ask: Ask, event: RoomEvent, viewer: Caller): Promise<string> {
    const { schema, document, operationName } = ask
    if (isPerViewer(schema, document, operationName, event.type)) return this.#render(ask, event, viewer)
    const frames = this.#frames.get(ask) ?? new Map<RoomEvent, Promise<string>>()
    this.#frames.set(ask, frames)
    const shared = frames.get(event) ?? this.#render(ask, event, null)
    frames.set(event, shared)
    return shared
  }

  async #render(ask: Ask, event: RoomEvent, caller: Caller | null): Promise<string> {
    const { schema, document, operationName, variables } = ask
    const requestId = newId()
    const shown: Context = {
      requestId,
      caller,
      ...(caller === null && { audience: this.#audience }),
      client: { address: '', userAgent: '' },
      cookies: null,
      loads: this.#loads,
    }
    const result = (await execute({
      schema,
      document,
      variableValues: variables,
      rootValue: event,
      contextValue: shown,
      ...(operationName !== undefined && { operationName }),
    })) as ExecutionResult
    const { broken, fault } = currentOperation()
    if (broken) throw new UnreadableError(ask, fault ?? result.errors?.[0]?.originalError)
    return JSON.stringify(this.#mask(result, requestId))
  }
}
