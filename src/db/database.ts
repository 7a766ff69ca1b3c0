import { join } from 'node:path'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { startEmbedded } from './embedded.ts'
import { EmbeddedError } from './embedded-error.ts'
import { readKeepsake } from './embedded-passwords.ts'
import { isolationFaults } from './isolation.ts'
import { migrate, migrationStatus, withMigrationLock } from './migrate.ts'
import { withClient } from './with-client.ts'

export const MIGRATIONS = join(import.meta.dirname, '../../prisma/migrations')
const EMBEDDED_NAME = 'moothall'

/** Where the database is, for each of the three that connect to it. */
export type Database = {
  readonly appUrl: string
  readonly listenUrl: string
  /** As the owner; null where the operator gave no address for it. */
  readonly ownerUrl: string | null
  readonly embedded: boolean
  /** Whether nobody has made an org yet. Only the embedded server's owner may look over all orgs, so null elsewhere. */
  hasOrgs(): Promise<boolean | null>
  /** Lets go of the embedded server, which stops with its last user. */
  close(): Promise<void>
}

/** The database at DATABASE_URL, or the embedded one, started or adopted. With `existing` none is made. */
export async function openDatabase(
  config: Config,
  log: Logger,
  options: { existing?: boolean } = {},
): Promise<Database> {
  const { DATABASE_URL: appUrl, DATABASE_MIGRATE_URL: ownerUrl, DATABASE_LISTEN_URL: listenUrl } = config
  if (appUrl !== '') {
    return {
      appUrl,
      listenUrl: listenUrl || appUrl,
      ownerUrl: ownerUrl || null,
      embedded: false,
      hasOrgs: async () => null,
      close: async () => {},
    }
  }
  const dataDir = config.MOOTHALL_DATA_DIR
  if (options.existing && !(await readKeepsake(dataDir))) throw new EmbeddedError('no_database')
  const server = await startEmbedded({ dataDir, log: (message) => log.warn(message) })
  try {
    await server.ensureDatabase(EMBEDDED_NAME)
  } catch (error) {
    await server.stop()
    throw error
  }
  const url = server.appUrl(EMBEDDED_NAME)
  return {
    appUrl: url,
    listenUrl: url,
    ownerUrl: server.ownerUrl(EMBEDDED_NAME),
    embedded: true,
    hasOrgs: () => withClient(starting(server.superuserUrl(EMBEDDED_NAME)), hasOrgs),
    close: () => server.stop(),
  }
}

/** Why the server does not serve from this database, in words for its operator. */
export class DatabaseRefusedError extends Error {
  override readonly name = 'DatabaseRefusedError'
}

/**
 * Applies pending migrations where it may, and refuses to go on with a schema other than this release's (PLAT-56, 57).
 * Returns the names of all that are applied now.
 */
export async function bringUpToDate(
  { appUrl, ownerUrl }: Database,
  { MOOTHALL_AUTO_MIGRATE: may }: Config,
): Promise<string[]> {
  if (may && ownerUrl) await migrate({ url: ownerUrl, folder: MIGRATIONS })
  const { applied, pending } = await migrationStatus({ url: appUrl, folder: MIGRATIONS })
  if (pending.length === 0) return applied
  const remedy = may ? 'set DATABASE_MIGRATE_URL' : 'run `moothall migrate`'
  throw new DatabaseRefusedError(`Migrations are pending (${pending.join(', ')}): ${remedy}.`)
}

/** Refuses a connection that could get past tenant isolation (PLAT-2). */
export async function requireIsolation({ appUrl }: Database): Promise<void> {
  const faults = await withClient(starting(appUrl), isolationFaults)
  if (faults.length === 0) return
  throw new DatabaseRefusedError(`The database would not keep tenants apart: ${faults.join('; ')}.`)
}

/**
 * Refuses a DATABASE_LISTEN_URL to some other database: its notifications would never come, and nothing would show it, for
 * a listener hears its own. One that cannot be reached now is for the listener to wait for.
 */
export async function requireOneDatabase({ appUrl, listenUrl }: Database): Promise<void> {
  if (listenUrl === appUrl) return
  const [served, heard] = await Promise.all([identityOf(appUrl), identityOf(listenUrl).catch(() => null)])
  if (heard !== null && heard !== served)
    throw new DatabaseRefusedError('DATABASE_LISTEN_URL leads to another database.')
}

/** Tells a database from its copies too, which hold the same rows. */
const identityOf = (url: string): Promise<string> =>
  withClient(starting(url), async (client) => {
    const { rows } = await client.query<{ identity: string }>(
      `SELECT concat_ws(' ', oid, extract(epoch FROM pg_postmaster_start_time())) AS identity FROM pg_database
        WHERE datname = current_database()`,
    )
    return rows[0]?.identity ?? ''
  })

/** Begins a new era of facts when transaction ids have started again, as after a logical restore (PLAT-18). */
export async function settleAuditEra({ appUrl }: Database): Promise<void> {
  await withClient(starting(appUrl), (client) =>
    withMigrationLock(client, () => client.query('SELECT platform.maint_audit_era()')),
  )
}

async function hasOrgs(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ any: boolean }>('SELECT EXISTS (SELECT FROM identity.orgs) AS any')
  return rows[0]?.any === true
}

const starting = (connectionString: string) => ({
  connectionString,
  application_name: 'moothall start',
  connectionTimeoutMillis: 10_000,
})
