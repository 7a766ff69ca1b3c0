import { PassThrough } from 'node:stream'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { startServer } from '../../src/server.ts'
import { PEPPER } from './api-key.ts'
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

/** What a server under test has by default, in this process or another. */
export function serverEnv({ appUrl, ownerUrl }: TestDatabase): Record<string, string> {
  return {
    NODE_ENV: 'test',
    PORT: '0',
    DATABASE_URL: appUrl,
    DATABASE_MIGRATE_URL: ownerUrl,
    MOOTHALL_KEY_PEPPERS: `1:${PEPPER.toString('base64')}`,
    MOOTHALL_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 'wrapping').toString('base64')}`,
    MOOTHALL_EMBED_PROVIDERS: 'meetings',
    MOOTHALL_EGRESS_ALLOW: '127.0.0.0/8', // receivers of webhooks are here
    MOOTHALL_DRAIN_DELAY: '0s',
    MOOTHALL_DRAIN_TIMEOUT: '5s',
    // Many tests come from one address and one person.
    MOOTHALL_RATE_NOBODY: '100000',
    MOOTHALL_RATE_PERSON: '100000',
    MOOTHALL_RATE_AGENT: '100000',
    MOOTHALL_RATE_COST: '100000000',
  }
}

/** The whole server on a database of the file's own. One a process, since the pool is the process's. */
export async function startApp(env: Record<string, string> = {}): Promise<App> {
  const database = await createDatabase()
  const lines: string[] = []
  const sink = new PassThrough()
  sink.on('data', (line) => lines.push(String(line)))
  const config = readConfig({ ...serverEnv(database), ...env })
  const server = await startServer(config, createLog(config, sink)).catch(async (error) => {
    await database.drop()
    throw error
  })

  return {
    url: server.address,
    database,
    log: () => lines.join(''),
    client: (token) => new GraphqlClient(`${server.address}/graphql`, token),
    async close() {
      await server.close()
      await database.drop()
    },
  }
}
