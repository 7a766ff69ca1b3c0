import { randomBytes } from 'node:crypto'
import { readConfig } from '../config.ts'
import { bringUpToDate, type Database, openDatabase, requireIsolation } from '../db/database.ts'
import { closePool, openPool } from '../db/pool.ts'
import { configureIdentity } from '../identity/index.ts'
import { createLog } from '../log.ts'
import { createRateLimiter } from '../platform/index.ts'
import { readSecrets } from '../secrets.ts'

/** Runs use-cases from the command line, beside a server or without one. `peppers`: it makes what they hash. */
export async function withDatabase<T>(
  body: (database: Database) => Promise<T>,
  { peppers = false }: { peppers?: boolean } = {},
): Promise<T> {
  const config = readConfig()
  const keyPeppers = peppers ? (await readSecrets(config)).keyPeppers : []
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
    configureIdentity(config, createRateLimiter({ secret: randomBytes(32) }), keyPeppers)
    return await body(database)
  } finally {
    await opened.disposeAsync()
  }
}
