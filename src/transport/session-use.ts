import type { Logger } from 'pino'
import type { Caller } from '../graphql/caller.ts'
import { outside } from '../live/outside.ts'

/** Marks the session as used (ID-16) and says until when it holds, if that moved. */
export type Touch = (caller: Caller) => Promise<Date | null>

/** Marks it while a stream or a socket opens, which does not wait for it; `moved` hears of a new end. */
export function touchAside(touch: Touch, caller: Caller, log: Logger, moved?: (endsAt: Date) => void): void {
  touch(caller).then(
    (endsAt) => endsAt && moved?.(endsAt),
    (error: unknown) => log.warn({ err: error }, 'the use of a session could not be noted'),
  )
}

const EVERY = 60_000
const REMEMBERED = 10_000

/**
 * Notes that a mutation used its session (ID-16). The database decides whether a minute has passed; a process asks it once
 * a minute a session, and no answer waits for it.
 */
export class SessionUse {
  readonly #touch: Touch
  readonly #log: Logger
  readonly #asked = new Map<string, number>()

  constructor(touch: Touch, log: Logger) {
    this.#touch = touch
    this.#log = log
  }

  note(caller: Caller): void {
    if (caller.kind !== 'session') return
    const { sessionId } = caller
    const now = Date.now()
    if (now - (this.#asked.get(sessionId) ?? 0) < EVERY) return
    if (this.#asked.size >= REMEMBERED) this.#asked.clear()
    this.#asked.set(sessionId, now)
    outside(() => touchAside(this.#touch, caller, this.#log))
  }
}
