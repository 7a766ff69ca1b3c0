import type { Scope } from '../db/scope.ts'
import type { Caller } from './caller.ts'

/** What one operation knows of its caller and its transport. Each subscription event has a fresh one (PLAT-5). */
export type Context = {
  readonly requestId: string
  /** Changes only when a mutation signs in or out: what follows in the document runs as whom it has become. */
  caller: Caller | null
  /** Set while one rendering is made for many: everybody of one class in one room, and nobody in particular. */
  readonly audience?: Audience
  readonly client: ClientFacts
  /** Cookies a mutation asks to set on an HTTP answer; a WebSocket has none. */
  readonly cookies: CookieJar | null
  /** Rows already read for this operation, one batch loader a kind; a mutation empties it after its commit. */
  readonly loads: Map<object, unknown>
  /** Set where the request may be sent again under its key: hears what its fields do (PLAT-51). */
  effects?: Effects
  /** Cost of the document, filled by the limits, and what is left of the actor's minute, by the rates (PLAT-67, 71). */
  cost?: { requested: number; maximum: number; budget?: CostBudget }
}

export type Effects = {
  /** Marks the field as committed. The last statement of each transaction that the field commits. */
  commit(field: string): Promise<void>
  /** The field answers with an error. */
  failed(): void
}

/** The subscribers of a room that see the same (DESIGN §3): its members, or its guests. */
export type Audience = {
  readonly orgId: string
  readonly spaceId: string
  readonly roomId: string
  readonly of: 'members' | 'guests'
}

export type CostBudget = { limit: number; remaining: number; resetAt: Date }

export type ClientFacts = {
  /** After trusted proxies; never stored outside sessions (PLAT-82). */
  readonly address: string
  readonly userAgent: string
}

export type CookieJar = { set(name: string, value: string, options: CookieOptions): void }
export type CookieOptions = { httpOnly: boolean; maxAge: number }

export function scopeOf(caller: Caller | null, requestId?: string): Scope {
  if (!caller) return { requestId }
  return { orgId: caller.orgId, userId: caller.userId, roomId: caller.roomId, requestId }
}
