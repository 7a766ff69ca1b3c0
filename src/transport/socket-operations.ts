import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql'
import type { OperationResult, SubscribePayload } from 'graphql-ws'
import type { Logger } from 'pino'
import type { Caller } from '../graphql/caller.ts'
import { requestError } from '../graphql/request-errors.ts'
import { newId } from '../lib/type-id.ts'
import { clientFacts } from './client-facts.ts'
import { maskError } from './masking.ts'
import { OperationCount } from './operation-count.ts'
import { OUTLET } from './outlet.ts'
import { COUNT } from './plugins/use-metrics.ts'
import { type Principal, requireNotHalted } from './principal.ts'
import { CLOSE, type Socket } from './socket.ts'

/** What Yoga gives for one operation: its functions with all plugins around them. */
type Enveloped = {
  schema: GraphQLSchema
  parse(source: string): DocumentNode
  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] | undefined
  contextFactory(): unknown
  execute(args: ExecutionArgs): unknown
  subscribe(args: ExecutionArgs): unknown
}
export type Engine = { getEnveloped(initial: never): Enveloped }

export type SocketOperationsOptions = {
  engine: Engine
  /** The caller as they stand now, for one operation; null when the session holds no longer. */
  refresh(caller: Caller): Promise<Caller | null>
  /** Proxies in front whose x-forwarded-for is believed. */
  trustProxy: number
  /** Counts an operation against its actor's limits; throws to refuse it. */
  admit?: ((principal: Principal) => Promise<unknown>) | undefined
  log: Logger
}

type Prepared = { enveloped: Enveloped; requestId: string; count: OperationCount }

/** Queries, mutations and subscriptions of a socket, each with its own request id and its caller read anew (ID-2, PLAT-65). */
export class SocketOperations {
  readonly #options: SocketOperationsOptions
  readonly #prepared = new WeakMap<ExecutionArgs, Prepared>()

  constructor(options: SocketOperationsOptions) {
    this.#options = options
  }

  /** What to run, or why not: a fault is told to its operation and never to the socket, where others run. */
  async prepare(
    socket: Socket,
    caller: Caller,
    id: string,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | GraphQLError[]> {
    const { engine, log, admit } = this.#options
    const requestId = newId()
    const count = new OperationCount()
    const refused = (errors: GraphQLError[]) => {
      count.end(errors)
      return errors
    }
    try {
      const principal = await this.#principal(socket, caller, requestId)
      await admit?.(principal)
      const initial = { req: socket.request, params: payload, principal, [OUTLET]: socket.outlet(id), [COUNT]: count }
      const enveloped = engine.getEnveloped(initial as never)
      const document = enveloped.parse(payload.query)
      const errors = enveloped.validate(enveloped.schema, document) ?? []
      if (errors.length > 0) return refused(errors.map((error) => maskError(error, requestId, log)))
      const args: ExecutionArgs = {
        schema: enveloped.schema,
        document,
        operationName: payload.operationName,
        variableValues: payload.variables,
        contextValue: await enveloped.contextFactory(),
      }
      this.#prepared.set(args, { enveloped, requestId, count })
      return args
    } catch (error) {
      return refused([maskError(error, requestId, log)])
    }
  }

  execute(args: ExecutionArgs): Promise<Awaited<OperationResult>> {
    return this.#run(args, ({ enveloped }) => enveloped.execute(args))
  }

  subscribe(args: ExecutionArgs): Promise<Awaited<OperationResult>> {
    return this.#run(args, ({ enveloped }) => enveloped.subscribe(args))
  }

  async #run(args: ExecutionArgs, run: (prepared: Prepared) => unknown): Promise<Awaited<OperationResult>> {
    const prepared = this.#prepared.get(args) as Prepared
    try {
      const result = (await run(prepared)) as Awaited<OperationResult>
      prepared.count.end(Symbol.asyncIterator in result ? undefined : result.errors)
      return result
    } catch (error) {
      const failed: ExecutionResult = { errors: [maskError(error, prepared.requestId, this.#options.log)] }
      prepared.count.end(failed.errors)
      return failed
    }
  }

  async #principal(socket: Socket, caller: Caller, requestId: string): Promise<Principal> {
    const now = await this.#options.refresh(caller)
    if (!now) {
      socket.close(CLOSE.credential)
      throw requestError('UNAUTHENTICATED')
    }
    requireNotHalted(now)
    return { requestId, caller: now, client: clientFacts(socket.request, this.#options.trustProxy), cookies: null }
  }
}
