import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { withClient } from '../db/with-client.ts'
import { CHANNELS } from './hints.ts'

const PING_EVERY = 500
/** Below the second after which a process must know (PLAT-28). */
const SILENCE = 900
const GRACE = 250
const CONNECT_TIMEOUT = 500
const BACKOFF_MIN = 200
const BACKOFF_MAX = 5_000
/** The server's queue of undelivered notifications is this full: some listener somewhere does not read (PLAT-28). */
const QUEUE_WARNING = 0.5

export type ListenerOptions = {
  url: string
  channels: readonly string[]
  /** Tells this process's pings from those of others. */
  instance: string
  onNotification(channel: string, payload: string): void
  /** LISTEN is in force from here on; what was sent before it is gone, so readers catch up from their cursors. */
  onListening(): void
  onConfirmed(confirmed: boolean): void
  log: Pick<Logger, 'info' | 'warn'>
}

/**
 * The one LISTEN connection of a process (PLAT-28). TCP alone does not say that a peer is gone, so it believes in itself
 * only while it hears its own pings. It never opens a transaction: nothing arrives inside one (PLAT-27).
 */
export class Listener {
  readonly #options: ListenerOptions
  readonly #pingHead: string
  #client: pg.Client | undefined
  #pings = 0
  #pingUnanswered = false
  #pingSentAt = 0
  #heard = 0
  #beat: NodeJS.Timeout | undefined
  #silence: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #failures = 0
  #unconfirmedSince: number | null = Date.now()
  #queueUsage = 0
  #closed = false

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#pingHead = `{"v":1,"t":"ping","from":${JSON.stringify(options.instance)},`
    void this.#connect()
  }

  get confirmed(): boolean {
    return this.#unconfirmedSince === null
  }

  /** Epoch milliseconds, or null while the connection is confirmed. */
  get unconfirmedSince(): number | null {
    return this.#unconfirmedSince
  }

  /** Share of the server's notification queue in use, as of the last ping. */
  get queueUsage(): number {
    return this.#queueUsage
  }

  async notify(channel: string, payload: string): Promise<void> {
    if (!this.#client || !this.confirmed) throw new Error('the listener is not connected')
    await this.#client.query('SELECT pg_notify($1, $2)', [channel, payload])
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    const client = this.#client
    if (!client) return
    const ended = new Promise((resolve) => client.once('end', resolve))
    this.#drop(client)
    await ended
  }

  async #connect(): Promise<void> {
    const { url, channels, onListening } = this.#options
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      application_name: 'moothall listener',
    })
    this.#client = client
    client.on('error', (error) => this.#lost(client, error.message))
    client.on('end', () => this.#lost(client, 'connection ended'))
    client.on('notification', ({ channel, payload }) => this.#hear(client, channel, payload ?? ''))
    this.#expectPing(client, SILENCE)
    try {
      await client.connect()
      await client.query(channels.map((channel) => `LISTEN ${pg.escapeIdentifier(channel)}`).join('; '))
      await this.#requireOwnSession(client)
    } catch (error) {
      return this.#lost(client, error instanceof Error ? error.message : String(error))
    }
    if (client !== this.#client) return
    onListening()
    this.#beat = setInterval(() => this.#ping(client), PING_EVERY)
    this.#ping(client)
  }

  /**
   * Behind a pooler in transaction mode a ping comes back with the answer to its own query, while what others notify goes
   * nowhere. A pooler makes up the process id that it gives; where one stands between, hearing another connection decides.
   */
  async #requireOwnSession(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    if (rows[0]?.pid === (client as unknown as { processID: number }).processID) return
    const heard = this.#heard
    await withClient({ connectionString: this.#options.url, connectionTimeoutMillis: CONNECT_TIMEOUT }, (other) =>
      other.query('SELECT pg_notify($1, $2)', [CHANNELS.identity, `${this.#pingHead}"n":0}`]),
    )
    for (let waited = 0; heard === this.#heard && waited < GRACE; waited += 10) await delay(10)
    if (heard === this.#heard) throw new Error('LISTEN goes through a transaction pooler: set DATABASE_LISTEN_URL')
  }

  /** One at a time: on a dead connection pings would only pile up. */
  #ping(client: pg.Client): void {
    if (this.#pingUnanswered) return
    this.#pingUnanswered = true
    this.#pingSentAt = performance.now()
    this.#pings += 1
    client
      .query('SELECT pg_notify($1, $2), pg_notification_queue_usage() AS usage', [
        CHANNELS.identity,
        `${this.#pingHead}"n":${this.#pings}}`,
      ])
      .then(({ rows }) => {
        if (client !== this.#client) return
        this.#pingUnanswered = false
        this.#observeQueue(Number(rows[0]?.usage ?? 0))
      })
      .catch((error: Error) => this.#lost(client, error.message))
  }

  #hear(client: pg.Client, channel: string, payload: string): void {
    if (client !== this.#client) return
    if (channel !== CHANNELS.identity || !payload.startsWith(this.#pingHead)) {
      return this.#options.onNotification(channel, payload)
    }
    this.#heard += 1
    this.#failures = 0
    this.#expectPing(client, SILENCE)
    this.#confirm(true)
  }

  #expectPing(client: pg.Client, within: number): void {
    clearTimeout(this.#silence)
    const heard = this.#heard
    this.#silence = setTimeout(() => {
      // What is in the socket's buffer is read before the verdict, and a process that was busy itself pings once more,
      // lest it take its own pause for a dead peer.
      setImmediate(() => {
        if (client !== this.#client || heard !== this.#heard) return
        if (performance.now() - this.#pingSentAt > GRACE) return this.#lost(client, 'no heartbeat')
        this.#confirm(false)
        this.#expectPing(client, GRACE)
      })
    }, within)
  }

  #lost(client: pg.Client, reason: string): void {
    if (client !== this.#client) return
    this.#drop(client)
    if (this.#closed) return
    this.#failures += 1
    const wait = Math.min(BACKOFF_MAX, BACKOFF_MIN * 2 ** (this.#failures - 1) * (1 + Math.random() / 4))
    this.#retry = setTimeout(() => void this.#connect(), wait)
    this.#options.log.warn({ reason, retryInMs: Math.round(wait) }, 'listener lost')
  }

  #drop(client: pg.Client): void {
    this.#client = undefined
    clearInterval(this.#beat)
    clearTimeout(this.#silence)
    this.#pingUnanswered = false
    // No polite goodbye: on a half-open connection it would never be answered.
    const { connection } = client as unknown as { connection: { stream: Socket } }
    connection.stream.destroy()
    this.#confirm(false)
  }

  #confirm(confirmed: boolean): void {
    if (confirmed === this.confirmed) return
    this.#unconfirmedSince = confirmed ? null : Date.now()
    if (confirmed) this.#options.log.info('listener confirmed')
    this.#options.onConfirmed(confirmed)
  }

  #observeQueue(usage: number): void {
    if (usage > QUEUE_WARNING && this.#queueUsage <= QUEUE_WARNING) {
      this.#options.log.warn({ usage }, 'the notification queue of the database is filling up')
    }
    this.#queueUsage = usage
  }
}
