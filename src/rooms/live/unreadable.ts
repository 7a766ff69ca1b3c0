import type { SharedQuery } from './shared-query.ts'

/** The database failed under a rendering, so it has a hole, and nothing more can be read beside it. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
  readonly query: SharedQuery
  constructor(query: SharedQuery, cause: unknown) {
    super('A rendering could not be read.', { cause })
    this.query = query
  }
}

/** What the database failed to read since all went well, lest one subscriber's query keep the others waiting. */
export class Unreadable {
  readonly #failures = new Map<SharedQuery, number>()

  /** Counts a failure; true when it is the query's own: the second in a row, and not for want of a connection. */
  isHopeless({ query, cause }: UnreadableError): boolean {
    const answered = (cause as { severity?: string } | undefined)?.severity === 'ERROR'
    const failures = answered ? (this.#failures.get(query) ?? 0) + 1 : 0
    this.#failures.set(query, failures)
    return failures > 1
  }

  /** Whoever asks for what failed comes last. */
  inOrder<M extends { query: SharedQuery }>(followers: Iterable<M>): M[] {
    const all = [...followers]
    if (this.#failures.size === 0) return all
    return [
      ...all.filter(({ query }) => !this.#failures.has(query)),
      ...all.filter(({ query }) => this.#failures.has(query)),
    ]
  }

  clear(): void {
    this.#failures.clear()
  }
}
