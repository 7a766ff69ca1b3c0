import { execute } from '@graphql-tools/executor'
import type { ExecutionResult } from 'graphql'
import { currentOperation } from '../../db/operation.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import type { Audience, Context } from '../../graphql/context.ts'
import { isPerViewer } from '../../graphql/per-viewer.ts'
import { framesRendered } from '../../lib/metrics.ts'
import { newId } from '../../lib/type-id.ts'
import type { RoomEvent } from './event-payloads.ts'
import type { SharedQuery } from './shared-query.ts'
import { UnreadableError } from './unreadable.ts'

/** A result as peers get it, its errors masked as everywhere (transport's, given at start). */
export type MaskResult = (result: ExecutionResult, requestId: string) => object

/** Whether an event looks different for each of those who ask so. */
export function isOwn({ perViewer, schema, document, operationName }: SharedQuery, { type }: RoomEvent): boolean {
  return perViewer && isPerViewer(schema, document, operationName, type)
}

/**
 * Renders one moment of a room: what is read for one subscriber is there for the next. Lives inside one read operation,
 * which has the org, for guests their room, and no user.
 */
export class RenderPass {
  readonly #audience: Audience
  readonly #mask: MaskResult
  readonly #loads = new Map<object, unknown>()
  readonly #frames = new Map<SharedQuery, Map<RoomEvent, Promise<string>>>()
  readonly #rendered = new Map<SharedQuery, Map<RoomEvent, string>>()

  constructor(audience: Audience, mask: MaskResult) {
    this.#audience = audience
    this.#mask = mask
  }

  /** The shared frame of an event, if it is there already. */
  rendered(query: SharedQuery, event: RoomEvent): string | undefined {
    return this.#rendered.get(query)?.get(event)
  }

  /** The frame of an event for one subscriber: the shared one, or one of their own where the selection depends on them. */
  frame(query: SharedQuery, event: RoomEvent, viewer: UserCaller): Promise<string> {
    if (isOwn(query, event)) return this.#render(query, event, viewer)
    const frames = this.#frames.get(query) ?? new Map<RoomEvent, Promise<string>>()
    this.#frames.set(query, frames)
    const shared = frames.get(event) ?? this.#renderShared(query, event)
    frames.set(event, shared)
    return shared
  }

  async #renderShared(query: SharedQuery, event: RoomEvent): Promise<string> {
    const frame = await this.#render(query, event, null)
    const rendered = this.#rendered.get(query) ?? new Map<RoomEvent, string>()
    this.#rendered.set(query, rendered.set(event, frame))
    return frame
  }

  async #render(query: SharedQuery, event: RoomEvent, caller: UserCaller | null): Promise<string> {
    const { schema, document, operationName, variables } = query
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
    framesRendered.inc()
    const { broken, fault } = currentOperation()
    if (broken) throw new UnreadableError(query, fault ?? result.errors?.[0]?.originalError)
    return JSON.stringify(this.#mask(result, requestId))
  }
}
