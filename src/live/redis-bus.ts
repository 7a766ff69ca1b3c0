import { randomUUID } from 'node:crypto'
import { createRedisEventTarget } from '@graphql-yoga/redis-event-target'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { hintsSent } from '../lib/metrics.ts'
import type { Bus } from './bus.ts'
import { type Hint, type HintOf, parseHint, type Topic, topicKey } from './hints.ts'
import type { PostgresBus } from './postgres-bus.ts'
import type { RedisConnections } from './redis.ts'

const PING_EVERY = 500
/** Below the second after which a process must know, as for the database's notifications (PLAT-28). */
const SILENCE = 900
const DOUBT_EVERY = 1_000
/** Hints that neither Redis nor the database took are kept for the next try; who missed more than these finds it by polling. */
const OWED_MAX = 10_000

/** What travels: which process sent it, and what it would have notified. */
type Message = { from: string; channel: string; payload: string }
type RedisEvent = CustomEvent<Message | null>

/**
 * The bus of processes that share a Redis. Beside the database's notifications, which it hears all the same, it carries the
 * hints of rooms and of audit news, so that writers need not queue up for NOTIFY (DESIGN §3). What goes which way:
 *
 * - Hints of rooms and audit news are collected in the transaction (`moothall.hints`) and published when its COMMIT is
 *   answered, to this process's own readers directly. Each such reader has a version or a cursor and looks by itself every
 *   few seconds, so a process killed between commit and publish delays its readers by one look and loses nothing.
 * - Everything else stays with NOTIFY, which commits with its change: an ended sign-in must be known within a second,
 *   whatever becomes of Redis.
 * - While Redis is not known to deliver, hints go by NOTIFY too, and one that it refused is notified after the fact.
 *   Readers are in doubt then: they read again every second, and once more when subscriptions are in force again.
 */
export class RedisBus implements Bus {
  readonly #postgres: PostgresBus
  readonly #redis: RedisConnections
  readonly #log: Pick<Logger, 'info' | 'warn'>
  readonly #instance: string
  readonly #target: ReturnType<typeof createRedisEventTarget<RedisEvent>>
  readonly #listening = new Map<string, { count: number; stop: () => void }>()
  readonly #owed = new Set<string>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #beat: NodeJS.Timeout
  #silence: NodeJS.Timeout | undefined
  #pingsHeard = 0
  #doubts: NodeJS.Timeout | undefined
  #unconfirmedSince: number | null = Date.now()
  #closed = false

  constructor(options: {
    postgres: PostgresBus
    redis: RedisConnections
    log: Pick<Logger, 'info' | 'warn'>
    instance?: string
  }) {
    const { postgres, redis, log, instance = randomUUID() } = options
    this.#postgres = postgres
    this.#redis = redis
    this.#log = log
    this.#instance = instance
    this.#target = createRedisEventTarget<RedisEvent>({
      publishClient: { publish: (to: string, message: string) => void this.#publish(to, message) } as unknown as Redis,
      subscribeClient: this.#subscriptions() as unknown as Redis,
      serializer: { stringify: JSON.stringify, parse: parseMessage },
    })
    redis.subscriber.on('ready', () => this.#resumed())
    redis.subscriber.on('close', () => this.#confirm(false))
    this.#target.addEventListener(this.#pings, () => this.#heard())
    this.#doubtRegularly()
    this.#beat = setInterval(() => this.#ping(), PING_EVERY)
  }

  /** Resolves when Redis is known to deliver for the first time. */
  get redisReady(): Promise<void> {
    return this.#ready.promise
  }

  /** Of the database's notifications: those of ended sign-ins come by no other way. */
  get confirmed(): boolean {
    return this.#postgres.confirmed
  }

  get unconfirmedSince(): number | null {
    return this.#postgres.unconfirmedSince
  }

  /** Since when Redis is not known to deliver, in epoch milliseconds; null while it is. */
  get redisUnconfirmedSince(): number | null {
    return this.#unconfirmedSince
  }

  /** Whether operations should collect their hints for `publish` instead of notifying. */
  get collects(): boolean {
    return this.#unconfirmedSince === null
  }

  /** Hands out what a committed transaction collected, lines of a channel and a payload. */
  publish(lines: readonly string[]): void {
    for (const line of lines) {
      const space = line.indexOf(' ')
      const [channel, payload] = [line.slice(0, space), line.slice(space + 1)]
      const hint = parseHint(channel, payload)
      if (hint === null || hint === 'ping') continue
      this.#postgres.followers.hint(hint)
      const detail: Message = { from: this.#instance, channel, payload }
      this.#target.dispatchEvent(new CustomEvent(channelOf(hint), { detail }))
    }
  }

  subscribe<T extends Topic>(topic: T, onHint: (hint: HintOf<T>) => void): () => void {
    const ends = [this.#postgres.subscribe(topic, onHint)]
    if (topic.channel !== 'identity') ends.push(this.#listen(topic))
    return () => {
      for (const end of ends.splice(0)) end()
    }
  }

  onDoubt(onDoubt: () => void): () => void {
    return this.#postgres.onDoubt(onDoubt)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#beat)
    clearInterval(this.#doubts)
    clearTimeout(this.#silence)
    await this.#redis.close()
    await this.#postgres.close()
  }

  get #pings(): string {
    return `moothall:ping:${this.#instance}`
  }

  /** One subscription a topic, however many follow it here. */
  #listen(topic: Topic): () => void {
    const channel = channelOf(topic)
    const known = this.#listening.get(channel)
    if (known) known.count += 1
    else {
      const receive = ({ detail }: CustomEvent<Message | null>) => this.#receive(detail)
      this.#target.addEventListener(channel, receive)
      this.#listening.set(channel, { count: 1, stop: () => this.#target.removeEventListener(channel, receive) })
    }
    return () => {
      const listening = this.#listening.get(channel)
      if (!listening) return
      listening.count -= 1
      if (listening.count > 0) return
      this.#listening.delete(channel)
      listening.stop()
    }
  }

  #receive(message: Message | null): void {
    if (!message || message.from === this.#instance) return // told when it was published
    const { channel, payload } = message
    const hint = parseHint(channel, payload)
    if (hint !== null && hint !== 'ping') this.#postgres.followers.hint(hint)
  }

  /** What the event target needs of a client; it does not look after what its calls come to. */
  #subscriptions(): object {
    const { subscriber } = this.#redis
    return {
      on: (event: 'message', onMessage: (channel: string, message: string) => void) => subscriber.on(event, onMessage),
      subscribe: (channel: string) =>
        subscriber.subscribe(channel).then(
          // What was published before the subscription was in force is missed, so its followers look once.
          () => this.#hintAt(channel),
          () => {}, // the bus closes
        ),
      unsubscribe: (channel: string) => subscriber.unsubscribe(channel).catch(() => {}),
    }
  }

  #hintAt(channel: string): void {
    const [, kind, orgId, roomId] = channel.split(':') as [string, string, string, string?]
    if (kind === 'audit') this.#postgres.followers.hint({ channel: 'audit', orgId })
    if (kind !== 'rooms' || roomId === undefined) return
    for (const presence of [false, true]) this.#postgres.followers.hint({ channel: 'rooms', orgId, roomId, presence })
  }

  async #publish(to: string, message: string): Promise<void> {
    try {
      await this.#redis.commands.publish(to, message)
      hintsSent.inc({ way: 'redis' })
    } catch {
      const { channel, payload } = parseMessage(message) as Message
      await this.#notify(channel, payload)
    }
  }

  async #notify(channel: string, payload: string): Promise<void> {
    try {
      await this.#postgres.notify(channel, payload)
      hintsSent.inc({ way: 'notify' })
    } catch {
      if (this.#owed.size < OWED_MAX && !this.#closed) this.#owed.add(`${channel} ${payload}`)
    }
  }

  #ping(): void {
    const { commands, subscriber } = this.#redis
    commands.publish(this.#pings, '').catch(() => {})
    // An answer is what shows that its connection is not half open.
    if (subscriber.status === 'ready') subscriber.ping().catch(() => {})
    const owed = [...this.#owed]
    this.#owed.clear()
    for (const line of owed) {
      const space = line.indexOf(' ')
      void this.#notify(line.slice(0, space), line.slice(space + 1))
    }
  }

  #heard(): void {
    if (this.#closed) return
    clearTimeout(this.#silence)
    const heard = ++this.#pingsHeard
    // What is in the socket's buffer is read before the verdict: it may be this process that paused.
    this.#silence = setTimeout(() => setImmediate(() => heard === this.#pingsHeard && this.#confirm(false)), SILENCE)
    this.#confirm(true)
  }

  /** The answer comes behind those of all subscriptions that were renewed, so nothing is missed from here on. */
  #resumed(): void {
    this.#redis.subscriber.ping().then(
      () => this.#postgres.followers.doubt(),
      () => {}, // gone again
    )
  }

  #confirm(confirmed: boolean): void {
    if (this.#closed || confirmed === (this.#unconfirmedSince === null)) return
    this.#unconfirmedSince = confirmed ? null : Date.now()
    if (confirmed) {
      clearInterval(this.#doubts)
      this.#ready.resolve()
      this.#log.info('redis confirmed')
    } else {
      this.#doubtRegularly()
      this.#log.warn('redis lost')
    }
    this.#postgres.followers.doubt()
  }

  #doubtRegularly(): void {
    clearInterval(this.#doubts)
    this.#doubts = setInterval(() => this.#postgres.followers.doubt(), DOUBT_EVERY)
  }
}

const channelOf = (topic: Topic | Hint): string => `moothall:${topicKey(topic)}`

/** Anybody who reaches Redis may write there; what is none of ours is nothing. */
function parseMessage(text: string): Message | null {
  try {
    const message = JSON.parse(text) as Partial<Message> | null
    return typeof message?.channel === 'string' && typeof message.payload === 'string' ? (message as Message) : null
  } catch {
    return null
  }
}
