import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { APP_ROLE, OWNER_ROLE } from './roles.ts'
import { withClient } from './with-client.ts'

export type MigrationFault =
  | 'unreadable'
  | 'wrong_role'
  | 'from_the_future'
  | 'edited'
  | 'out_of_order'
  | 'unfinished'
  | 'failed'
  | 'left_its_transaction'

/** Why the schema cannot be brought up to date, and which file it is about (PLAT-56). */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  readonly fault: MigrationFault
  readonly migration: string | undefined

  constructor(fault: MigrationFault, migration: string | undefined, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
    this.migration = migration
  }
}

type MigrationFile = { name: string; sql: string; checksum: string }
type MigrationRecord = { name: string; checksum: string; finished: boolean }

const TABLE = 'platform._prisma_migrations'
const NAME = /^\d{4}_[a-z0-9_]+$/
const LOCK = 5_021_977_401_955n

/**
 * Applies what the folder has and the database lacks, in bytewise order (PLAT-55). Each file runs in one transaction
 * with its record; the lock at its head and the second look behind it let many processes start at once.
 */
export async function migrate(options: { url: string; folder: string; lock?: bigint }): Promise<{ applied: string[] }> {
  const files = await readFolder(options.folder)
  const lock = options.lock ?? LOCK
  return withClient(migrating(options.url), async (client) => {
    await requireOwner(client)
    if (findPending(files, await readRecords(client)).length === 0) return { applied: [] }
    await inTransaction(client, lock, () => createTable(client))
    const applied: string[] = []
    for (const file of files) {
      const ran = await inTransaction(client, lock, async () => {
        const pending = findPending(files, await readRecords(client))
        if (!pending.includes(file)) return false
        await apply(client, file)
        return true
      })
      if (ran) applied.push(file.name)
    }
    return { applied }
  })
}

/** What is applied and what is pending; refuses as `migrate` would, and changes nothing. */
export async function migrationStatus(options: {
  url: string
  folder: string
}): Promise<{ applied: string[]; pending: string[] }> {
  const files = await readFolder(options.folder)
  const pending = await withClient(migrating(options.url), async (client) =>
    findPending(files, await readRecords(client)),
  )
  const names = (list: MigrationFile[]) => list.map((file) => file.name)
  return { applied: names(files.filter((file) => !pending.includes(file))), pending: names(pending) }
}

/** Does something else at start that only one process may do at a time. */
export function withMigrationLock<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  return inTransaction(client, LOCK, work)
}

async function readFolder(folder: string): Promise<MigrationFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause) => {
    throw new MigrationError('unreadable', undefined, 'The folder of migrations cannot be read.', { cause })
  })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  // Names are ASCII, where the order of UTF-16 units is the order of bytes.
  const files = await Promise.all(names.sort().map((name) => readMigration(folder, name)))
  return files.filter((file) => file !== undefined)
}

async function readMigration(folder: string, name: string): Promise<MigrationFile | undefined> {
  const contents = await readdir(join(folder, name))
  // Version control keeps no empty folders, but leaves them behind.
  if (contents.length === 0) return undefined
  if (!NAME.test(name) || !contents.includes('migration.sql')) {
    throw new MigrationError('unreadable', name, `${name} is no migration: expected NNNN_name/migration.sql.`)
  }
  const bytes = await readFile(join(folder, name, 'migration.sql'))
  return { name, sql: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') }
}

/** The files still to run; refuses where files and records tell different stories (PLAT-56). */
function findPending(files: MigrationFile[], records: MigrationRecord[]): MigrationFile[] {
  const byName = new Map(files.map((file) => [file.name, file]))
  for (const { name, checksum, finished } of records) {
    const file = byName.get(name)
    const refuse = (fault: MigrationFault, why: string) => new MigrationError(fault, name, `${name} ${why}`)
    if (!file) throw refuse('from_the_future', 'is applied, but unknown here: the database belongs to a newer release.')
    if (!finished) throw refuse('unfinished', 'was begun by another tool and never finished.')
    if (file.checksum !== checksum) throw refuse('edited', 'was changed after it was applied.')
  }
  const applied = new Set(records.map((record) => record.name))
  const newest = files.findLast((file) => applied.has(file.name))
  const pending = files.filter((file) => !applied.has(file.name))
  const late = pending.find((file) => newest && file.name < newest.name)
  if (late) {
    const why = `sorts before ${newest?.name}, which is applied already: give it a higher number.`
    throw new MigrationError('out_of_order', late.name, `${late.name} ${why}`)
  }
  return pending
}

const migrating = (url: string) => ({ connectionString: url, application_name: 'moothall migrate' })

async function requireOwner(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ role: string }>('SELECT current_user AS role')
  if (rows[0]?.role === OWNER_ROLE) return
  throw new MigrationError('wrong_role', undefined, `Migrations run as ${OWNER_ROLE}, which then owns what they make.`)
}

async function readRecords(client: pg.Client): Promise<MigrationRecord[]> {
  const { rows } = await client.query<{ present: boolean }>(`SELECT to_regclass('${TABLE}') IS NOT NULL AS present`)
  if (!rows[0]?.present) return []
  const records = await client.query<MigrationRecord>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
       FROM ${TABLE} WHERE rolled_back_at IS NULL ORDER BY migration_name COLLATE "C"`,
  )
  return records.rows
}

/** Prisma's own table, so that its tools can read what was applied. */
async function createTable(client: pg.Client): Promise<void> {
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS platform;
    CREATE TABLE IF NOT EXISTS ${TABLE} (
      id                  varchar(36)  PRIMARY KEY,
      checksum            varchar(64)  NOT NULL,
      finished_at         timestamptz,
      migration_name      varchar(255) NOT NULL,
      logs                text,
      rolled_back_at      timestamptz,
      started_at          timestamptz  NOT NULL DEFAULT now(),
      applied_steps_count integer      NOT NULL DEFAULT 0
    );
    DO $$ BEGIN
      IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${APP_ROLE}') THEN
        GRANT USAGE ON SCHEMA platform TO ${APP_ROLE};
        GRANT SELECT ON ${TABLE} TO ${APP_ROLE};
      END IF;
    END $$`)
}

async function inTransaction<T>(client: pg.Client, lock: bigint, work: () => Promise<T>): Promise<T> {
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${lock})`)
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function apply(client: pg.Client, { name, sql, checksum }: MigrationFile): Promise<void> {
  const before = await transactionId(client)
  try {
    await client.query(sql)
  } catch (cause) {
    const { message, code, position } = cause as pg.DatabaseError
    const line = position ? ` at line ${sql.slice(0, Number(position)).split('\n').length}` : ''
    throw new MigrationError('failed', name, `${name} failed${line}: ${message} (${code ?? 'no code'})`, { cause })
  }
  // What a file set for its session must bend neither its record nor the next file.
  await client.query('RESET ROLE; RESET ALL')
  if ((await transactionId(client)) !== before) {
    const why = 'ended the transaction it runs in; what it did before that stays. Remove its COMMIT or ROLLBACK.'
    throw new MigrationError('left_its_transaction', name, `${name} ${why}`)
  }
  await client.query(
    `INSERT INTO ${TABLE} (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  )
}

async function transactionId(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id')
  return rows[0]?.id
}
