import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionResult } from 'graphql'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import {
  bringUpToDate,
  type Database,
  openDatabase,
  requireIsolation,
  requireOneDatabase,
  settleAuditEra,
} from './db/database.ts'
import { operation } from './db/operation.ts'
import { closePool, openPool } from './db/pool.ts'
import { sql } from './db/sql.ts'
import {
  configureIdentity,
  flushKeyUse,
  identitySweeps,
  openSignIn,
  recheckCallers,
  refreshCaller,
  rememberKeys,
  requirePeppers,
  signInSettled,
  touchSession,
} from './identity/index.ts'
import { Egress } from './lib/egress/client.ts'
import type { Bus } from './live/bus.ts'
import { setCurrentBus } from './live/current-bus.ts'
import { type OpenBus, openBus } from './live/open-bus.ts'
import { logPlainly } from './log.ts'
import {
  configureToolInvocations,
  configureWebhooks,
  createKeyring,
  createRateLimiter,
  openRateLimitPool,
  platformSweeps,
  postgresStore,
  type RateLimiter,
  type RateLimitStore,
  redisStore,
  requireSealingKeys,
  setKeyring,
  webhookDeliveries,
} from './platform/index.ts'
import { startWorkers, type Workers } from './queue/leased-work.ts'
import { startSweeps } from './queue/sweeps.ts'
import { configureRooms, roomSweeps, standupOpenings, startRoomLive } from './rooms/index.ts'
import { readSecrets, type Secrets } from './secrets.ts'
import { socketAuthentication } from './transport/authenticate-socket.ts'
import { masked } from './transport/execute.ts'
import { type Checks, createReadiness } from './transport/health.ts'
import { createHttpServer, GRAPHQL_PATH } from './transport/http.ts'
import { observeServer } from './transport/metrics.ts'
import { admitRequest } from './transport/plugins/use-rate-limits.ts'
import { publicResult } from './transport/result-json.ts'
import { Streams } from './transport/streams.ts'
import { attachWebSockets } from './transport/ws.ts'

export type RunningServer = {
  /** Where it listens, such as `http://127.0.0.1:4000`. */
  readonly address: string
  readonly database: Database
  /** Stops taking work, ends streams, awaits what runs, and lets go of everything (PLAT-74). */
  close(): Promise<void>
}

/**
 * The whole server: database, schema, isolation, bus, HTTP. What has been opened is closed again when a later step
 * refuses. One a process, since the pool is the process's.
 */
export async function startServer(config: Config, log: Logger): Promise<RunningServer> {
  const opened = new AsyncDisposableStack()
  try {
    const secrets = await readSecrets(config)
    setKeyring(createKeyring({ ...secrets, kmsKeyId: config.MOOTHALL_KMS_KEY_ID }))
    const database = await openDatabase(config, log)
    opened.defer(() => database.close())
    const migrations = await bringUpToDate(database, config)
    await requireIsolation(database)
    await requireOneDatabase(database)
    await settleAuditEra(database)

    const live = openLive(config, database, opened, log)
    openPool({
      url: database.appUrl,
      size: config.MOOTHALL_DATABASE_POOL,
      wait: config.MOOTHALL_DATABASE_POOL_WAIT,
      statementTimeout: config.MOOTHALL_STATEMENT_TIMEOUT,
      prepared: config.MOOTHALL_DATABASE_PREPARED,
      ...(live.hints && { hints: live.hints }),
      onIdleError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
      onExhausted: ({ waiting, inUse, cause }) => log.warn({ err: cause, waiting, inUse }, 'pool exhausted'),
    })
    opened.defer(closePool)
    const limiter = openLimiter(config, secrets, database, live, opened, log)
    configureIdentity(config, limiter, secrets.keyPeppers)
    await requirePeppers()
    await requireSealingKeys()
    opened.defer(() => flushKeyUse().catch((error) => log.warn({ err: error }, 'the use of keys could not be noted')))
    opened.defer(rememberKeys(live.bus))
    openSignIn(config, { ...secrets, log, print: (mail, message) => logPlainly(log, mail, message) })
    // What is to be mailed is made and sent before the pool goes, for as long as running requests are awaited.
    opened.defer(() => Promise.race([signInSettled(), delay(config.MOOTHALL_DRAIN_TIMEOUT, undefined, { ref: false })]))
    configureToolInvocations({ retention: config.MOOTHALL_TOOL_INVOCATION_RETENTION, log })
    configureRooms({ limiter, publicUrl: config.MOOTHALL_PUBLIC_URL })
    const { bus } = live
    const mask = (result: ExecutionResult, requestId: string) => publicResult(masked(result, requestId, log))
    const roomLive = startRoomLive({ bus, mask, log })
    opened.defer(() => roomLive.stop())
    const sweeps = startSweeps([...identitySweeps, ...platformSweeps, ...roomSweeps], log)
    opened.defer(() => sweeps.stop())
    const workers = openWorkers(config, bus, opened, log)
    const streams = openStreams(config, bus, opened, log)
    observeServer({ streams })
    const readiness = createReadiness({ ...databaseChecks(migrations), ...live.checks })
    const { server, yoga, traffic } = createHttpServer(config, log, {
      limiter,
      readiness,
      streams,
      refresh: refreshCaller,
      touch: touchSession,
    })
    const sockets = attachWebSockets(server, {
      path: GRAPHQL_PATH,
      engine: yoga,
      streams,
      authenticate: socketAuthentication(config),
      refresh: refreshCaller,
      touch: touchSession,
      admit: (principal) => admitRequest(limiter, principal),
      trustProxy: config.MOOTHALL_TRUST_PROXY,
      log,
    })
    server.listen(config.PORT, config.HOST)
    await once(server, 'listening')
    opened.defer(() =>
      traffic.drain(server, {
        delay: config.MOOTHALL_DRAIN_DELAY,
        timeout: config.MOOTHALL_DRAIN_TIMEOUT,
        endStreams: () => Promise.all([sockets.drain(), sweeps.stop(), workers.stop(config.MOOTHALL_DRAIN_TIMEOUT)]),
        cutSockets: () => sockets.close(),
      }),
    )
    const closing = opened.move()
    return { address: addressOf(server.address() as AddressInfo), database, close: () => closing.disposeAsync() }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

/** Attempts are counted in Redis or the database, for all processes together; requests in this one. */
function openLimiter(
  config: Config,
  { keyPeppers }: Secrets,
  database: Database,
  { redis }: OpenBus,
  opened: AsyncDisposableStack,
  log: Logger,
): RateLimiter {
  return createRateLimiter({
    secret: keyPeppers[0]!.secret,
    shared: redis ? redisStore(redis.commands) : openDatabaseStore(config, database, opened),
    points: {
      personRequests: config.MOOTHALL_RATE_PERSON,
      agentRequests: config.MOOTHALL_RATE_AGENT,
      nobodyRequests: config.MOOTHALL_RATE_NOBODY,
      cost: config.MOOTHALL_RATE_COST,
    },
    onStoreFailure: (kind, error) => log.error({ err: error, kind }, 'rate limits cannot be counted'),
  })
}

function openDatabaseStore(config: Config, { appUrl }: Database, opened: AsyncDisposableStack): RateLimitStore {
  const pool = openRateLimitPool(appUrl)
  opened.defer(() => pool.end())
  return postgresStore(pool, { prepared: config.MOOTHALL_DATABASE_PREPARED })
}

function openLive(config: Config, { listenUrl }: Database, opened: AsyncDisposableStack, log: Logger): OpenBus {
  const live = openBus({ listenUrl, redisUrl: config.REDIS_URL, log })
  setCurrentBus(live.bus)
  opened.defer(() => {
    setCurrentBus(undefined)
    return live.bus.close()
  })
  return live
}

function openWorkers(config: Config, bus: Bus, opened: AsyncDisposableStack, log: Logger): Workers {
  const egress = new Egress({ allow: config.MOOTHALL_EGRESS_ALLOW })
  opened.defer(() => egress.close())
  configureWebhooks({
    egress,
    timeout: config.MOOTHALL_WEBHOOK_TIMEOUT,
    maxAttempts: config.MOOTHALL_WEBHOOK_MAX_ATTEMPTS,
    retention: config.MOOTHALL_WEBHOOK_RETENTION,
  })
  const workers = startWorkers([webhookDeliveries, standupOpenings], { bus, log })
  opened.defer(() => workers.stop(0))
  return workers
}

function openStreams(config: Config, bus: Bus, opened: AsyncDisposableStack, log: Logger): Streams {
  const limits = { sockets: config.MOOTHALL_MAX_SOCKETS_PER_ACTOR, streams: config.MOOTHALL_MAX_STREAMS_PER_ACTOR }
  const streams = new Streams({ bus, recheck: recheckCallers, limits, log })
  opened.defer(() => streams.close())
  return streams
}

function databaseChecks(migrations: readonly string[]): Checks {
  return {
    database: async () => (await operation('read', {}, readMigrations)).length > 0,
    migrations: async () =>
      (await operation('read', {}, readMigrations)).map(({ name }) => name).join() === migrations.join(),
  }
}

const readMigrations = () =>
  sql<{ name: string }>`
    SELECT migration_name AS name FROM platform._prisma_migrations
    WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name COLLATE "C"`

function addressOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
