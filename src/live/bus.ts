import type { Logger } from 'pino'
import { type Hint, type HintOf, type Topic, topicKey } from './hints.ts'
import { outside } from './outside.ts'

/**
 * Carries hints between the processes that share a database. Every sender is in the database (PLAT-25); a bus is only how
 * its notifications reach the readers here.
 */
export interface Bus {
  /** Calls back for each hint on the topic, possibly more often than there were changes. Returns the end of it. */
  subscribe<T extends Topic>(topic: T, onHint: (hint: HintOf<T>) => void): () => void
  /**
   * Calls back whenever hints may have been missed: when the connection is there again, and every second while it is
   * unconfirmed. Readers read on from their cursors, caches drop.
   */
  onDoubt(onDoubt: () => void): () => void
  /** Whether hints are known to arrive. */
  readonly confirmed: boolean
  /** Since when they are not, in epoch milliseconds; null while confirmed. */
  readonly unconfirmedSince: number | null
  close(): Promise<void>
}

/** Who follows what in this process, and the handing out of hints; what every bus shares. */
export class Followers {
  readonly #topics = new Map<string, Set<(hint: Hint) => void>>()
  readonly #doubters = new Set<() => void>()
  readonly #log: Pick<Logger, 'error'>

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log
  }

  /** How many subscriptions are open, for tests and metrics. */
  get size(): number {
    let size = 0
    for (const callbacks of this.#topics.values()) size += callbacks.size
    return size
  }

  add<T extends Topic>(topic: T, onHint: (hint: HintOf<T>) => void): () => void {
    const key = topicKey(topic)
    const callbacks = this.#topics.get(key) ?? new Set()
    this.#topics.set(key, callbacks)
    // A wrapper of its own, so that the same function may follow a topic twice.
    const callback = (hint: Hint) => onHint(hint as HintOf<T>)
    callbacks.add(callback)
    return () => {
      callbacks.delete(callback)
      if (callbacks.size === 0 && this.#topics.get(key) === callbacks) this.#topics.delete(key)
    }
  }

  addDoubter(onDoubt: () => void): () => void {
    const callback = () => onDoubt()
    this.#doubters.add(callback)
    return () => this.#doubters.delete(callback)
  }

  hint(hint: Hint): void {
    const callbacks = this.#topics.get(topicKey(hint))
    if (callbacks) outside(() => this.#each(callbacks, (callback) => callback(hint)))
  }

  doubt(): void {
    outside(() => this.#each(this.#doubters, (callback) => callback()))
  }

  clear(): void {
    this.#topics.clear()
    this.#doubters.clear()
  }

  /** What one follower throws is no concern of the next. */
  #each<F>(callbacks: ReadonlySet<F>, call: (callback: F) => void): void {
    for (const callback of [...callbacks]) {
      if (!callbacks.has(callback)) continue // ended by one before it
      try {
        call(callback)
      } catch (error) {
        this.#log.error({ err: error }, 'a follower of the bus threw')
      }
    }
  }
}
