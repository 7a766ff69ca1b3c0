import type { Logger } from 'pino'
import type { Caller } from '../graphql/caller.ts'
import { outside } from '../live/outside.ts'

export type Touch = (caller: Caller) => Promise<Date | null>

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
    const { sessionId } = caller
    const now = Date.now()
    if (now - (this.#asked.get(sessionId) ?? 0) < EVERY) return
    if (this.#asked.size >= REMEMBERED) this.#asked.clear()
    this.#asked.set(sessionId, now)
    outside(() => this.#touch(caller)).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'the use of a session could not be noted')
    })
  }
}
