import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestDatabase } from './database.ts'
import { type Service, startService, versionOf } from './service.ts'

/** Null where there is no PgBouncer to test with. */
export const pgbouncerVersion = versionOf('pgbouncer')

/** Whether it keeps apart the prepared statements of those who share a connection. */
export function knowsPreparedStatements(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 1 || (major === 1 && minor >= 21)
}

export type TestPgbouncer = Service & { readonly url: string }

/** In front of a database. In transaction mode its clients share so few connections that they meet on each. */
export async function startPgbouncer(
  database: TestDatabase,
  mode: 'transaction' | 'session' = 'transaction',
): Promise<TestPgbouncer> {
  const app = new URL(database.appUrl)
  const [user, password] = [app.username, app.password].map(decodeURIComponent) as [string, string]
  const service = await startService('pgbouncer', async ({ port, dir, account }) => {
    const config = join(dir, 'pgbouncer.ini')
    await writeFile(join(dir, 'users.txt'), `"${user}" "${password}"\n`)
    await writeFile(
      config,
      `[databases]
* = host=${app.hostname} port=${app.port || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(dir, 'users.txt')}
pool_mode = ${mode}
default_pool_size = ${mode === 'session' ? 100 : 3}
max_client_conn = 200
${knowsPreparedStatements(pgbouncerVersion as string) ? 'max_prepared_statements = 200' : ''}
`,
    )
    if (account.uid && account.gid) await chown(dir, account.uid, account.gid)
    return [config]
  })
  app.host = `127.0.0.1:${service.port}`
  return { ...service, url: String(app) }
}
