import type { Ask } from './rendering.ts'

/** The database failed under a rendering, so it has a hole, and nothing more can be read beside it. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
  readonly ask: Ask
  constructor(ask: Ask, cause: unknown) {
    super('A rendering could not be read.', { cause })
    this.ask = ask
  }
}

/** What the database failed to read since all went well, lest one subscriber's question keep the others waiting. */
export class Unreadable {
  readonly #failures = new Map<Ask, number>()

  /** Counts a failure; true when it is the question's own: the second in a row, and not for want of a connection. */
  isHopeless({ ask, cause }: UnreadableError): boolean {
    const answered = (cause as { severity?: string } | undefined)?.severity === 'ERROR'
    const failures = answered ? (this.#failures.get(ask) ?? 0) + 1 : 0
    this.#failures.set(ask, failures)
    return failures > 1
  }

  /** Whoever asks for what failed comes last. */
  inOrder<M extends { ask: Ask }>(members: Iterable<M>): M[] {
    const all = [...members]
    if (this.#failures.size === 0) return all
    return [...all.filter(({ ask }) => !this.#failures.has(ask)), ...all.filter(({ ask }) => this.#failures.has(ask))]
  }

  clear(): void {
    this.#failures.clear()
  }
}
