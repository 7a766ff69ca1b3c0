import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { readConfig } from '../../src/config.ts'
import { closePool, openPool } from '../../src/db/pool.ts'
import { configureIdentity } from '../../src/identity/index.ts'
import { createLog } from '../../src/log.ts'
import { createRateLimiter } from '../../src/platform/index.ts'
import { createHttpServer } from '../../src/transport/http.ts'
import { GraphqlClient } from './client.ts'
import { createDatabase, type TestDatabase } from './database.ts'

export type App = {
  readonly url: string
  readonly database: TestDatabase
  /** What the server logged so far, one JSON object a line. */
  log(): string
  /** A caller with a bearer token, or nobody. */
  client(token?: string): GraphqlClient
  close(): Promise<void>
}

/** The whole server on a database of the file's own. One a process, since the pool is the process's. */
export async function startApp(env: Record<string, string> = {}): Promise<App> {
  const database = await createDatabase()
  const config = readConfig({ NODE_ENV: 'test', PORT: '0', ...env })
  const lines: string[] = []
  const sink = new PassThrough()
  sink.on('data', (line) => lines.push(String(line)))
  const log = createLog(config, sink)

  openPool({
    url: database.appUrl,
    size: config.MOOTHALL_DATABASE_POOL,
    wait: config.MOOTHALL_DATABASE_POOL_WAIT,
    statementTimeout: config.MOOTHALL_STATEMENT_TIMEOUT,
    prepared: config.MOOTHALL_DATABASE_PREPARED,
  })
  configureIdentity(config, createRateLimiter({ secret: 'of the tests' }))
  const { server } = createHttpServer(config, log)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    database,
    log: () => lines.join(''),
    client: (token) => new GraphqlClient(`${url}/graphql`, token),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await closePool()
      await database.drop()
    },
  }
}
