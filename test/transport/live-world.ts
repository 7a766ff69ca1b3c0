import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createYoga, type Plugin } from 'graphql-yoga'
import pg from 'pg'
import { pino } from 'pino'
import { vi } from 'vitest'
import { type Config, readConfig } from '../../src/config.ts'
import { closePool, openPool, poolUse } from '../../src/db/pool.ts'
import { credentialId } from '../../src/graphql/caller.ts'
import type { Context } from '../../src/graphql/context.ts'
import { recheckCallers, refreshCaller } from '../../src/identity/recheck-callers.ts'
import type { Held } from '../../src/identity/session/recheck-sessions.ts'
import { newCsrfSecret, newSessionToken } from '../../src/identity/session/token.ts'
import { touchSession } from '../../src/identity/session/touch-session.ts'
import { configureIdentity } from '../../src/identity/settings.ts'
import { newId } from '../../src/lib/type-id.ts'
import { PostgresBus } from '../../src/live/postgres-bus.ts'
import { socketAuthentication } from '../../src/transport/authenticate-socket.ts'
import { useOperations } from '../../src/transport/plugins/use-operations.ts'
import { type ServerContext, usePrincipal } from '../../src/transport/plugins/use-principal.ts'
import { useServerSentEvents } from '../../src/transport/plugins/use-server-sent-events.ts'
import { useSubscriptions } from '../../src/transport/plugins/use-subscriptions.ts'
import { contextOf, type Principal } from '../../src/transport/principal.ts'
import { Streams } from '../../src/transport/streams.ts'
import { attachWebSockets, type WebSockets, type WebSocketsOptions } from '../../src/transport/ws.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { liveSchema, type TestDirect } from './live-schema.ts'

export type Person = { orgId: string; userId: string; sessionId: string; token: string; csrf: string }

type Options = {
  bounds?: WebSocketsOptions['bounds']
  limits?: { sockets: number; streams: number }
  pingEvery?: number
  env?: Record<string, string>
  /** Nobody is looked up after signing in, for tests that count anything but statements. */
  trusting?: boolean
}

/**
 * A server with a small schema of its own: `feed` follows a list in memory, `events` run a statement each, `parked` and
 * `pending` never answer, `direct` writes by itself.
 */
export async function liveWorld(options: Options = {}): Promise<LiveWorld> {
  const database = await createDatabase()
  const world = new LiveWorld(database, options)
  await world.start()
  return world
}

export class LiveWorld {
  readonly database: TestDatabase
  readonly config: Config
  readonly options: Options
  bus!: PostgresBus
  streams!: Streams
  sockets!: WebSockets
  server!: Server
  sql!: pg.Client
  orgId = newId()
  readonly facts: string[] = []
  /** Sources that are attached now. */
  attached = 0
  /** How many sources and slow answers were ever asked for. */
  asked = 0
  wake = new Set<() => void>()
  /** Lets `pending` and `slow` go on. */
  gate = Promise.withResolvers<void>()
  /** Holds sockets that are authenticated from being registered. */
  hold: PromiseWithResolvers<void> | undefined
  readonly moments = new EventEmitter<{ authenticated: [] }>()
  readonly contexts: Context[] = []
  readonly directs = new Set<TestDirect>()
  readonly lines: string[] = []
  readonly #log = pino({ level: 'info' }, { write: (line: string) => void this.lines.push(line) })

  constructor(database: TestDatabase, options: Options) {
    this.database = database
    this.options = options
    this.config = readConfig({ NODE_ENV: 'test', ...options.env })
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/graphql`
  }

  get wsUrl(): string {
    return `ws://127.0.0.1:${this.port}/graphql`
  }

  async start(): Promise<void> {
    const { database, config, options } = this
    const log = this.#log
    this.sql = new pg.Client({ connectionString: database.ownerUrl })
    await this.sql.connect()
    await this.sql.query(
      `INSERT INTO identity.orgs (id, slug, name, api_version, allow_anonymous) VALUES ($1, 'live', 'Org', '2026-01-01', true)`,
      [this.orgId],
    )
    openPool({ url: database.appUrl, size: 6, wait: 5_000, statementTimeout: 15_000, prepared: true })
    configureIdentity(config, { take: async () => ({}), peek: async () => ({}) } as never)
    this.bus = new PostgresBus({ url: database.appUrl, log })
    await this.bus.ready

    const trusting = options.trusting === true
    const identity = trusting
      ? {
          recheck: async () => this.#trusted,
          refresh: async (caller: never) => caller,
          touch: async () => null,
        }
      : { recheck: recheckCallers, refresh: refreshCaller, touch: touchSession }
    this.streams = new Streams({
      bus: this.bus,
      recheck: (callers) => {
        this.#rechecks += 1
        return identity.recheck(callers).finally(() => {
          this.#rechecks -= 1
          this.#recheckedAt = performance.now()
        })
      },
      limits: options.limits ?? { sockets: 20, streams: 200 },
      log,
    })
    const yoga = createYoga<ServerContext & { principal?: Principal }>({
      schema: liveSchema(this),
      context: (initial) => contextOf(initial.principal as Principal),
      plugins: [
        trusting ? this.#useTrusted() : usePrincipal(config, log),
        useServerSentEvents(options.pingEvery ? { pingEvery: options.pingEvery } : {}),
        useSubscriptions({ streams: this.streams, refresh: identity.refresh, touch: identity.touch, log }),
        useOperations(log),
      ],
      logging: false,
    })
    this.server = createServer((request, response) => void yoga(request, response))
    this.server.on('connection', (socket) => {
      this.connections += 1
      socket.once('close', () => {
        this.connections -= 1
      })
    })
    const authenticate = socketAuthentication(config)
    this.sockets = attachWebSockets(this.server, {
      engine: yoga,
      path: '/graphql',
      streams: this.streams,
      authenticate: async (request, authorization) => {
        const held = await authenticate(request, authorization)
        this.moments.emit('authenticated')
        await this.hold?.promise
        if (trusting) this.#trusted.set(credentialId(held.caller), held)
        return held
      },
      refresh: identity.refresh,
      touch: identity.touch,
      trustProxy: 0,
      log,
      ...(options.bounds && { bounds: options.bounds }),
    })
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
  }

  #useTrusted(): Plugin<object, ServerContext> {
    return {
      onParams: ({ context }) => {
        const [held] = this.#trusted.values()
        const client = { address: '', userAgent: '' }
        context.principal = { requestId: newId(), caller: held!.caller, client, cookies: null }
      },
    }
  }

  readonly #trusted = new Map<string, Held>()

  async close(): Promise<void> {
    this.gate.resolve()
    this.streams.close()
    this.sockets.close()
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
    await this.bus.close()
    await closePool()
    await this.sql.end()
    await this.database.drop()
  }

  /** Open TCP connections of clients. */
  connections = 0

  get poolInUse(): number {
    const { total, idle } = poolUse()
    return total - idle
  }

  async person(role = 'member'): Promise<Person> {
    const userId = newId()
    await this.sql.query(
      `INSERT INTO identity.users (id, type, account, display_name, status) VALUES ($1, 'human', 'registered', 'Somebody', 'active')`,
      [userId],
    )
    await this.sql.query(
      'INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, $3, $4, now())',
      [this.orgId, userId, role, `u-${userId.slice(-12)}`],
    )
    return this.signIn(userId)
  }

  async signIn(userId: string): Promise<Person> {
    const sessionId = newId()
    const { token, hash } = newSessionToken()
    const csrf = newCsrfSecret()
    await this.sql.query(
      `INSERT INTO identity.sessions (id, org_id, user_id, token_hash, csrf_hash, method, last_seen_at)
       VALUES ($1, $2, $3, $4, $5, 'password', now() - interval '2 min')`,
      [sessionId, this.orgId, userId, hash, csrf.hash],
    )
    return { orgId: this.orgId, userId, sessionId, token, csrf: csrf.secret }
  }

  async revoke({ sessionId }: Person): Promise<void> {
    await this.sql.query(`UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user' WHERE id = $1`, [
      sessionId,
    ])
  }

  async setRole({ userId }: Person, role: string): Promise<void> {
    await this.sql.query('UPDATE identity.memberships SET role = $2 WHERE user_id = $1', [userId, role])
  }

  async expel({ userId }: Person): Promise<void> {
    await this.sql.query('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [userId])
  }

  async terminateListener(): Promise<void> {
    const superuser = new pg.Client({ connectionString: this.database.superuserUrl })
    await superuser.connect()
    await superuser.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'moothall listener'`,
    )
    await superuser.end()
  }

  /** Waits for the checks that opening a stream brings, so that what ends it later is something else. */
  async settled(): Promise<void> {
    await vi.waitUntil(() => this.#rechecks === 0 && performance.now() - this.#recheckedAt > 200, {
      interval: 10,
      timeout: 10_000,
    })
  }

  #rechecks = 0
  #recheckedAt = 0

  /** Tells everybody who follows the feed. */
  publish(...facts: string[]): void {
    this.facts.push(...facts)
    for (const wake of [...this.wake]) wake()
  }
}
