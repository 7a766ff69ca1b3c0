import pg from 'pg'
import { poolExhausted } from '../lib/metrics.ts'

export type PoolOptions = {
  url: string
  size: number
  /** Longest wait for a free connection, in milliseconds. */
  wait: number
  /** Bound of one statement, in milliseconds. */
  statementTimeout: number
  /** Named prepared statements; off behind poolers that do not know them. */
  prepared: boolean
  onIdleError?: (error: Error) => void
  /** No connection could be had; `cause` says whether the wait was too long or the server refused. */
  onExhausted?: (error: PoolExhaustedError) => void
  /** Takes what would else be notified, for a bus that publishes it after the commit. */
  hints?: HintOutlet
}

export type HintOutlet = {
  /** Whether it takes any now; a transaction that begins while it does not notifies. */
  readonly collects: boolean
  /** What a transaction collected, once it has committed: lines of a channel and a payload. */
  publish(lines: readonly string[]): void
}

/** No connection came free in time, the server has none left, or it cannot be reached (PLAT-8). */
export class PoolExhaustedError extends Error {
  override name = 'PoolExhaustedError'
  readonly waiting: number
  readonly inUse: number
  constructor(waiting: number, inUse: number, cause: unknown) {
    super('No database connection came free in time.', { cause })
    this.waiting = waiting
    this.inUse = inUse
  }
}

let current: { pool: pg.Pool; options: PoolOptions } | undefined

/** Opens the one pool of this process. Connections pipeline, so BEGIN, settings and the first statement are one trip. */
export function openPool(options: PoolOptions): void {
  if (current) throw new Error('The pool is open already.')
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.size,
    connectionTimeoutMillis: options.wait,
    idleTimeoutMillis: 30_000,
    pipeline: true,
    application_name: 'moothall',
  } as pg.PoolConfig)
  // An idle connection that breaks is replaced at the next lease; unhandled, its error would end the process.
  pool.on('error', (error) => options.onIdleError?.(error))
  // So would that of a leased one, which may break at any moment from connecting to giving back; its statements report it.
  pool.on('connect', (connection) => connection.on('error', () => {}))
  current = { pool, options }
}

export async function closePool(): Promise<void> {
  const closing = current
  current = undefined
  await closing?.pool.end()
}

export function poolOptions(): PoolOptions {
  if (!current) throw new Error('The pool is not open.')
  return current.options
}

export function poolUse(): { total: number; idle: number; waiting: number } {
  const pool = current?.pool
  return { total: pool?.totalCount ?? 0, idle: pool?.idleCount ?? 0, waiting: pool?.waitingCount ?? 0 }
}

/** Leases one connection. The caller gives it back with `release()`, or `release(error)` when its state is in doubt. */
export async function lease(): Promise<pg.PoolClient> {
  if (!current) throw new Error('The pool is not open.')
  const { pool, options } = current
  try {
    return await pool.connect()
  } catch (error) {
    if (isMisconfigured(error)) throw error
    const exhausted = new PoolExhaustedError(pool.waitingCount, pool.totalCount - pool.idleCount, error)
    poolExhausted.inc()
    options.onExhausted?.(exhausted)
    throw exhausted
  }
}

/** Refused for who we are or for what we asked: a fault in the configuration that waiting does not mend. */
function isMisconfigured(error: unknown): boolean {
  return /^(28|3D|42)/.test((error as { code?: string }).code ?? '')
}
