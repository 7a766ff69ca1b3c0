import type pg from 'pg'
import type { Database } from '../db/database.ts'
import { withClient } from '../db/with-client.ts'
import { decodeId, encodeId } from '../graphql/ids.ts'
import { recordExport } from '../identity/index.ts'
import { RefusedError } from './command.ts'
import { type Manifest, openFolder, writeManifest, writeTable } from './export-files.ts'
import { type ExportedTable, exportedTables } from './export-tables.ts'

type Wanted = { org: string; folder: string; what: 'org' | 'audit'; tables: (all: ExportedTable[]) => ExportedTable[] }

/**
 * Writes tables of one org as they are at one moment, and records that it was done. As the owner: an export is the
 * operator's, and row security would keep from it what people may not see of each other.
 */
export async function exportSnapshot({ ownerUrl }: Database, { org, folder, what, tables }: Wanted): Promise<Manifest> {
  if (!ownerUrl) throw new RefusedError('An export reads as the owner: set DATABASE_MIGRATE_URL.')
  const connection = { connectionString: ownerUrl, application_name: 'moothall export' }
  const manifest = await withClient(connection, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await client.query("SET LOCAL TimeZone = 'UTC'")
    const found = await findOrg(client, org)
    await openFolder(folder)
    const files: Manifest['files'] = []
    for (const table of tables(await exportedTables(client))) {
      files.push(await writeTable(client, folder, table, found.id))
    }
    const { rows } = await client.query<Pick<Manifest, 'takenAt' | 'migration'>>(MOMENT)
    await client.query('COMMIT')
    return { org: found, ...rows[0]!, files }
  })
  await writeManifest(folder, manifest)
  await recordExport(manifest.org.id, what)
  return manifest
}

const MOMENT = `
  SELECT to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "takenAt", max(migration_name COLLATE "C") AS migration
  FROM platform._prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`

/** By slug or id; a purged org also by the slug it had, which only its last event remembers. */
async function findOrg(client: pg.Client, wanted: string): Promise<Manifest['org']> {
  const id = idOf(wanted)
  const { rows } = await client.query<Manifest['org']>(
    `SELECT id, slug FROM identity.orgs WHERE slug = $1 OR id = $2
     UNION ALL
     (SELECT o.id, o.slug FROM platform.audit_events AS e JOIN identity.orgs AS o ON o.id = e.org_id AND o.status = 'purged'
      WHERE e.event_type = 'org.purged' AND e.org_slug = $1 ORDER BY e.created_at DESC LIMIT 1)`,
    [wanted, id],
  )
  const [org] = rows
  if (!org) throw new RefusedError('There is no such org.', 'NOT_FOUND')
  return org
}

function idOf(text: string): string | null {
  const decoded = decodeId(text)
  return decoded?.typename === 'Org' ? decoded.id : null
}

/** For the terminal, where ids are those of the API; in the files they are those of the rows. */
export const shown = ({ org, ...manifest }: Manifest) => ({ org: { ...org, id: encodeId('Org', org.id) }, ...manifest })
