import pg from 'pg'
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
} from 'rate-limiter-flexible'

/** Makes the counter of one kind. */
export type RateLimitStore = (limit: { kind: string; points: number; seconds: number }) => RateLimiterAbstract

/** Counts in this process. */
export const memoryStore: RateLimitStore = ({ kind, points, seconds }) =>
  new RateLimiterMemory({ keyPrefix: kind, points, duration: seconds })

const QUERY_TIMEOUT = 2_000

/**
 * A small pool for the counters alone: they are counted outside every operation and stay counted when one rolls back.
 * A database that hangs counts as a failing store after two seconds.
 */
export function openRateLimitPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: 2,
    application_name: 'moothall rate limits',
    connectionTimeoutMillis: QUERY_TIMEOUT,
    query_timeout: QUERY_TIMEOUT,
  })
  pool.on('error', () => {}) // an idle connection broke: the next query makes a new one
  return pool
}

/** Counts in `platform.rate_limits`, for all processes of one database. `prepared: false` for PgBouncer before 1.21. */
export function postgresStore(pool: pg.Pool, { prepared = true } = {}): RateLimitStore {
  const client = {
    query: ({ name, ...query }: pg.QueryConfig) => pool.query(prepared && name ? { ...query, name } : query),
  }
  return ({ kind, points, seconds }) =>
    new RateLimiterPostgres({
      storeClient: client,
      storeType: 'pool',
      schemaName: 'platform',
      tableName: 'rate_limits',
      tableCreated: true,
      clearExpiredByTimeout: false, // a sweep does it
      keyPrefix: kind,
      points,
      duration: seconds,
    })
}

/**
 * Counts in Redis, for all processes that share it. The client must answer or fail within its time: nobody is let in
 * uncounted, and there is no second store to fall back to, which would start at nought.
 */
export function redisStore(client: object): RateLimitStore {
  return ({ kind, points, seconds }) =>
    new RateLimiterRedis({
      storeClient: client,
      rejectIfRedisNotReady: true,
      keyPrefix: `moothall:rate:${kind}`,
      points,
      duration: seconds,
    })
}
