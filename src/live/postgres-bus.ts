import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { hintsMalformed } from '../lib/metrics.ts'
import { type Bus, Followers } from './bus.ts'
import { CHANNELS, type HintOf, parseHint, type Topic } from './hints.ts'
import { Listener } from './listener.ts'

const DOUBT_EVERY = 1_000

export type PostgresBusOptions = {
  /** Must reach PostgreSQL itself: a transaction pooler loses LISTEN. */
  url: string
  log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Names this process in its heartbeat; random by default. */
  instance?: string
}

/** The bus that needs nothing but the database: LISTEN, with NOTIFY as its senders. */
export class PostgresBus implements Bus {
  /** Who follows what in this process; another carrier of hints hands its own out here. */
  readonly followers: Followers
  readonly #listener: Listener
  #malformed = 0
  #doubts: NodeJS.Timeout | undefined
  #ready = Promise.withResolvers<void>()

  constructor({ url, log, instance = randomUUID() }: PostgresBusOptions) {
    this.followers = new Followers(log)
    this.#doubtRegularly()
    this.#listener = new Listener({
      url,
      channels: Object.values(CHANNELS),
      instance,
      log,
      onNotification: (channel, payload) => this.#receive(channel, payload),
      onListening: () => this.followers.doubt(),
      onConfirmed: (confirmed) => {
        if (confirmed) {
          clearInterval(this.#doubts)
          this.#ready.resolve()
        } else {
          this.#doubtRegularly()
          this.followers.doubt() // something may have been missed since the last ping
        }
      },
    })
  }

  /** Resolves when hints are known to arrive for the first time. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  get confirmed(): boolean {
    return this.#listener.confirmed
  }

  get unconfirmedSince(): number | null {
    return this.#listener.unconfirmedSince
  }

  /** Figures for the metrics: open subscriptions, notifications not understood, use of the server's queue (0 to 1). */
  get figures(): { subscriptions: number; malformed: number; queueUsage: number } {
    return {
      subscriptions: this.followers.size,
      malformed: this.#malformed,
      queueUsage: this.#listener.queueUsage,
    }
  }

  subscribe<T extends Topic>(topic: T, onHint: (hint: HintOf<T>) => void): () => void {
    return this.followers.add(topic, onHint)
  }

  onDoubt(onDoubt: () => void): () => void {
    return this.followers.addDoubter(onDoubt)
  }

  /** Sends a hint that belongs to no transaction any more. Rejects when there is no connection. */
  notify(channel: string, payload: string): Promise<void> {
    return this.#listener.notify(channel, payload)
  }

  async close(): Promise<void> {
    this.followers.clear()
    await this.#listener.close()
    clearInterval(this.#doubts)
  }

  #receive(channel: string, payload: string): void {
    const hint = parseHint(channel, payload)
    if (hint === null) {
      this.#malformed += 1
      hintsMalformed.inc()
    } else if (hint !== 'ping') this.followers.hint(hint)
  }

  #doubtRegularly(): void {
    clearInterval(this.#doubts)
    this.#doubts = setInterval(() => this.followers.doubt(), DOUBT_EVERY)
  }
}
