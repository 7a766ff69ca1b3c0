import pg from 'pg'
import { isolationFaults } from './isolation.ts'
import { MigrationError, migrationStatus } from './migrate.ts'
import { APP_ROLE, OWNER_ROLE } from './roles.ts'

export type Finding = { check: string; ok: boolean; detail: string }

const SUPPORTED = [16, 17, 18]

/** Looks the database over as the server would use it, and changes nothing. `url` is the application's. */
export async function doctor({ url, folder }: { url: string; folder: string }): Promise<Finding[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'moothall doctor',
    connectionTimeoutMillis: 10_000,
  })
  try {
    await client.connect()
  } catch (error) {
    return [{ check: 'connection', ok: false, detail: reason(error) }]
  }
  try {
    return [
      { check: 'connection', ok: true, detail: 'established' },
      ...(await serverFindings(client)),
      await migrationFinding(url, folder),
      await isolationFinding(client),
    ]
  } finally {
    await client.end()
  }
}

async function serverFindings(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{
    version: string
    encoding: string
    ctype: string
    foldsLetters: boolean
    timeZone: string
    missingRoles: string[]
  }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
            datctype AS ctype, lower('Ä') = 'ä' AS "foldsLetters", current_setting('TimeZone') AS "timeZone",
            array(SELECT role FROM unnest($1::text[]) AS role WHERE to_regrole(role) IS NULL) AS "missingRoles"
       FROM pg_database WHERE datname = current_database()`,
    [[OWNER_ROLE, APP_ROLE]],
  )
  const seen = rows[0]
  if (!seen) throw new Error('the database is not in its own catalog')
  const missing = seen.missingRoles.map((role) => `${role} is missing`).join(', ')
  return [
    { check: 'server version', ok: SUPPORTED.includes(Number.parseInt(seen.version, 10)), detail: seen.version },
    { check: 'encoding', ok: seen.encoding === 'UTF8', detail: seen.encoding },
    // The search's trigrams ask this for what a letter is; C knows none beyond ASCII (WORK-107).
    { check: 'character type', ok: /utf-?8/i.test(seen.ctype) && seen.foldsLetters, detail: seen.ctype },
    { check: 'time zone', ok: /^(Etc\/)?(UTC|GMT)$/.test(seen.timeZone), detail: seen.timeZone },
    { check: 'roles', ok: missing === '', detail: missing || `${OWNER_ROLE}, ${APP_ROLE}` },
  ]
}

async function migrationFinding(url: string, folder: string): Promise<Finding> {
  try {
    const { applied, pending } = await migrationStatus({ url, folder })
    const detail = pending.length ? `pending: ${pending.join(', ')}` : `${applied.length} applied, none pending`
    return { check: 'migrations', ok: pending.length === 0, detail }
  } catch (error) {
    return { check: 'migrations', ok: false, detail: error instanceof MigrationError ? error.message : reason(error) }
  }
}

async function isolationFinding(client: pg.Client): Promise<Finding> {
  const faults = await isolationFaults(client)
  return { check: 'isolation', ok: faults.length === 0, detail: faults.join('; ') || 'no faults' }
}

/** The code alone: a driver's message may name hosts and users. */
function reason(error: unknown): string {
  return `refused (${(error as { code?: string }).code ?? 'no code'})`
}
