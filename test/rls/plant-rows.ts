import type pg from 'pg'
import { isSecured, SCHEMAS } from './catalog-rules.ts'

/** A value of each type that a column may have; any will do, since CHECK constraints are taken away. */
const SAMPLES: Record<string, string> = {
  uuid: 'platform.new_id()',
  text: 'md5(random()::text)',
  varchar: 'md5(random()::text)',
  bool: 'false',
  int2: '1',
  int4: '1',
  int8: '1',
  float8: '1',
  numeric: '1',
  timestamptz: 'now()',
  date: 'current_date',
  time: 'localtime',
  interval: `interval '1 day'`,
  jsonb: `'{}'`,
  bytea: `decode(md5(random()::text), 'hex')`,
  inet: `'192.0.2.1'`,
  xid8: 'pg_current_xact_id()',
  tsvector: `''`,
  _text: `'{}'`,
  _uuid: `'{}'`,
  _int2: `'{}'`,
  _int4: `'{}'`,
}

/**
 * Puts one row of each org into every table that belongs to orgs, and a copy of them into the temporary table
 * `planted_rows`, where the app can take them from. For a superuser, inside a transaction that is rolled back: CHECK
 * constraints are dropped and triggers, foreign keys included, are off from here on.
 */
export async function plantRows(client: pg.ClientBase, orgs: string[], only?: string): Promise<void> {
  await client.query(`SET LOCAL session_replication_role = replica;
    CREATE TEMPORARY TABLE planted_rows (table_name text, planted jsonb) ON COMMIT DROP;
    GRANT SELECT ON planted_rows TO moothall_app;
    GRANT USAGE ON SCHEMA platform TO moothall_app`)
  for (const { name, columns, types, checks } of await tables(client, only)) {
    for (const check of checks) await client.query(`ALTER TABLE ${name} DROP CONSTRAINT ${check}`)
    const values = types.map((type) => SAMPLES[type] ?? 'NULL')
    for (const org of orgs) {
      const ofOrg = columns.map((column, at) => (ownedBy(name, column) ? `'${org}'` : values[at]))
      await client.query(`WITH made AS (
          INSERT INTO ${name} (${columns.join(', ')}) VALUES (${ofOrg.join(', ')}) RETURNING *)
        INSERT INTO planted_rows SELECT '${name}', to_jsonb(made) FROM made`)
    }
  }
}

function ownedBy(table: string, column: string): boolean {
  return column === 'org_id' || column === 'home_org_id' || (table === 'identity.orgs' && column === 'id')
}

type Table = { name: string; columns: string[]; types: string[]; checks: string[] }

async function tables(client: pg.ClientBase, only?: string): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT n.nspname || '.' || c.relname AS name,
       array_agg(quote_ident(attname) ORDER BY attnum) AS columns,
       array_agg((SELECT b.typname FROM pg_type b WHERE b.oid = coalesce(nullif(t.typbasetype, 0), t.oid))::text
         ORDER BY attnum) AS types,
       ARRAY(SELECT quote_ident(conname) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c') AS checks
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
     WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''
     GROUP BY 1, c.oid ORDER BY 1`,
    [SCHEMAS],
  )
  return rows.filter(({ name }) => isSecured(name) && name === (only ?? name))
}
