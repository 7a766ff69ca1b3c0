import { randomBytes } from 'node:crypto'
import { readConfig } from '../config.ts'
import { bringUpToDate, type Database, openDatabase, requireIsolation } from '../db/database.ts'
import { closePool, openPool } from '../db/pool.ts'
import { configureIdentity } from '../identity/index.ts'
import { createLog } from '../log.ts'
import { createRateLimiter } from '../platform/index.ts'

/** Runs use-cases from the command line, beside a server or without one. */
export async function withDatabase<T>(body: (database: Database) => Promise<T>): Promise<T> {
  const config = readConfig()
  const opened = new AsyncDisposableStack()
  try {
    const database = await openDatabase(config, createLog(config, process.stderr))
    opened.defer(() => database.close())
    await bringUpToDate(database, config)
    await requireIsolation(database)
    openPool({
      url: database.appUrl,
      size: 2,
      wait: config.MOOTHALL_DATABASE_POOL_WAIT,
      statementTimeout: config.MOOTHALL_STATEMENT_TIMEOUT,
      prepared: config.MOOTHALL_DATABASE_PREPARED,
    })
    opened.defer(closePool)
    configureIdentity(config, createRateLimiter({ secret: randomBytes(32) }))
    return await body(database)
  } finally {
    await opened.disposeAsync()
  }
}
