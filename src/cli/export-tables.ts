import type pg from 'pg'

/** Tables that an export leaves out whole, and why (PLAT-81). */
const LEFT_OUT: Record<string, string> = {
  'identity.sessions': 'addresses and what people sign in with',
  'identity.login_tokens': 'one-time tokens',
  'identity.intent_nonces': 'minutes old at most',
  'platform.idempotency_keys': 'sealed answers, a day old at most',
  'rooms.standup_ahead_entries': 'personal until they are entries',
  'rooms.standup_away': 'personal',
  'rooms.standup_mentions': 'between two people',
  'rooms.ics_feed_tokens': 'personal, and what lets a calendar in',
  'work.sticky_notes': 'personal',
}

/** Columns that an export leaves out beside all `bytea`, which hold hashes and envelopes. */
const SECRET_COLUMNS = ['password_hash', 'issuer', 'subject']

/** The org itself and its people stand in no tenant table; without them an export would name nobody. */
const BESIDE: Record<string, string> = {
  'identity.orgs': 't.id = $1',
  'identity.users': `t.home_org_id = $1
    OR EXISTS (SELECT FROM identity.memberships AS m WHERE m.org_id = $1 AND m.user_id = t.id)`,
}

export type ExportedTable = {
  /** `schema.table`, which is also what its file is called. */
  readonly name: string
  /** One JSON text a row, of the org `$1`, in the order of the primary key. */
  readonly select: string
}

type Row = { name: string; columns: string[]; key: string[]; parents: string[] }

/** All tables that hold rows of an org, what a row refers to before what refers to it. */
export async function exportedTables(client: pg.Client): Promise<ExportedTable[]> {
  const { rows } = await client.query<Row>(CATALOG, [Object.keys(BESIDE), Object.keys(LEFT_OUT), SECRET_COLUMNS])
  return parentsFirst(rows).map(({ name, columns, key }) => ({
    name,
    select: `
      SELECT row_to_json(picked)::text AS line
      FROM (SELECT ${columns.map((column) => `t.${column}`).join(', ')} FROM ${name} AS t
            WHERE ${BESIDE[name] ?? 't.org_id = $1'} ORDER BY ${key.map((column) => `t.${column}`).join(', ')}) AS picked`,
  }))
}

const CATALOG = `
  SELECT n.nspname || '.' || c.relname AS name,
    ARRAY(SELECT quote_ident(a.attname) FROM pg_attribute AS a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid <> 'bytea'::regtype
            AND a.attname <> ALL ($3) ORDER BY a.attnum) AS columns,
    ARRAY(SELECT quote_ident(a.attname) FROM pg_index AS i, unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.attnum
          WHERE i.indrelid = c.oid AND i.indisprimary ORDER BY k.place) AS key,
    ARRAY(SELECT DISTINCT f.confrelid::regclass::text FROM pg_constraint AS f
          WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid ORDER BY 1) AS parents
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('identity', 'rooms', 'work', 'gate', 'plugins', 'platform')
    AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND n.nspname || '.' || c.relname <> ALL ($2)
    AND (n.nspname || '.' || c.relname = ANY ($1)
      OR EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'org_id' AND a.attnotnull))
  ORDER BY name`

/** A circle, such as a room and the story on its table, is cut where it is met: each table comes once. */
function parentsFirst(rows: readonly Row[]): Row[] {
  const byName = new Map(rows.map((row) => [row.name, row]))
  const ordered = new Set<Row>()
  const entered = new Set<Row>()
  const place = (row: Row) => {
    if (entered.has(row)) return
    entered.add(row)
    for (const parent of row.parents) {
      const table = byName.get(parent)
      if (table) place(table)
    }
    ordered.add(row)
  }
  for (const row of rows) place(row)
  return [...ordered]
}
