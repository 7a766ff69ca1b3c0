import type pg from 'pg'
import { GLOBAL_TABLES, isSecured, OPEN_TO_GUESTS, SCHEMAS } from './catalog-rules.ts'
import { plantRows } from './plant-rows.ts'

const READ_BY_GUESTS = ['identity.orgs', ...OPEN_TO_GUESTS]

type Settings = { org?: string; user?: string; room?: string }
type Table = { name: string; columns: string[]; readable: string[]; writable: string[]; changeable: string[] }

/**
 * What the app's role gets out of a database in which every table that belongs to an org, or the one that is named,
 * holds a row of each of two orgs. Needs a superuser inside a transaction that will be rolled back: the rows keep no
 * constraint but NOT NULL, and triggers are off, so that row security and grants are all that stands in the way.
 */
export async function findLeaks(client: pg.ClientBase, only?: string): Promise<string[]> {
  const { rows } = await client.query<{ ours: string; theirs: string }>(
    'SELECT platform.new_id() AS ours, platform.new_id() AS theirs',
  )
  const { ours, theirs } = rows[0]!
  await plantRows(client, [ours, theirs], only)
  const faults: string[] = []
  for (const table of await securedTables(client, only)) {
    const found = [
      ...(await readsWithout(client, table)),
      ...(await readsAcross(client, table, ours, theirs)),
      ...(GLOBAL_TABLES[table.name] === 'insert only'
        ? await doesMoreThanInsert(client, table, ours)
        : [...(await writesWithout(client, table)), ...(await writesAcross(client, table, ours, theirs))]),
      ...(await asksPerRow(client, table)),
    ]
    faults.push(...found.map((fault) => `${table.name} ${fault}`))
  }
  return faults
}

async function securedTables(client: pg.ClientBase, only?: string): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT n.nspname || '.' || c.relname AS name, array_agg(quote_ident(attname)) AS columns,
       coalesce(array_agg(quote_ident(attname)) FILTER (WHERE may('SELECT')), '{}') AS readable,
       coalesce(array_agg(quote_ident(attname)) FILTER (WHERE may('INSERT')), '{}') AS writable,
       coalesce(array_agg(quote_ident(attname)) FILTER (WHERE may('UPDATE')), '{}') AS changeable
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     GROUP BY 1 ORDER BY 1`.replaceAll(/may\('(\w+)'\)/g, "has_column_privilege('moothall_app', c.oid, attnum, '$1')"),
    [SCHEMAS],
  )
  return rows.filter(({ name }) => isSecured(name) && name === (only ?? name))
}

/** Without an org nothing is read. */
async function readsWithout(client: pg.ClientBase, table: Table): Promise<string[]> {
  const seen = await attempt(client, {}, `SELECT FROM ${table.name}`)
  return seen === 0 || (seen === '42501' && table.readable.length === 0) ? [] : [`gives ${seen} without an org`]
}

/** With an org its own rows are read at most, and none of them by the guest of a room that they are not of. */
async function readsAcross(client: pg.ClientBase, table: Table, ours: string, theirs: string): Promise<string[]> {
  const org = ownerColumn(table)
  if (!table.readable.includes(org)) return []
  const foreign = await attempt(
    client,
    { org: ours },
    `SELECT FROM ${table.name} WHERE ${org} IS DISTINCT FROM '${ours}'`,
  )
  const found = foreign === 0 ? [] : [`gives ${foreign} of another org`]
  const guest = await attempt(client, { org: ours, user: theirs, room: theirs }, `SELECT FROM ${table.name}`)
  if (guest !== 0 && !READ_BY_GUESTS.includes(table.name)) found.push(`gives ${guest} to a guest`)
  const planted = await client.query(`SELECT FROM ${table.name} WHERE ${org} = $1`, [theirs])
  return planted.rowCount ? found : [...found, 'was not tried: no row could be planted']
}

/** Without an org nothing is written. */
async function writesWithout(client: pg.ClientBase, table: Table): Promise<string[]> {
  const faults: string[] = []
  const inserted = await attempt(client, {}, copyOf(table))
  if (inserted !== '42501') faults.push(`takes a row without an org (${inserted})`)
  for (const statement of changesOf(table)) {
    const changed = await attempt(client, {}, statement)
    if (changed !== 0 && changed !== '42501') faults.push(`is changed without an org (${changed}): ${statement}`)
  }
  return faults
}

/** With one org no row of another is made, and none is changed. */
async function writesAcross(client: pg.ClientBase, table: Table, ours: string, theirs: string): Promise<string[]> {
  const faults: string[] = []
  const inserted = await attempt(client, { org: ours }, copyOf(table, theirs))
  if (inserted !== '42501') faults.push(`takes a row of another org (${inserted})`)
  const guest = await attempt(client, { org: ours, user: theirs, room: theirs }, copyOf(table, ours))
  if (guest !== '42501') faults.push(`takes a row of a guest (${guest})`)
  const org = ownerColumn(table)
  for (const statement of changesOf(table)) {
    const changed = await attempt(client, { org: ours }, `${statement} WHERE ${org} = '${theirs}'`)
    if (changed !== 0 && changed !== '42501') faults.push(`is changed from another org (${changed}): ${statement}`)
  }
  return faults
}

/** What anybody may add to gives nothing back, with an org as without. */
async function doesMoreThanInsert(client: pg.ClientBase, table: Table, ours: string): Promise<string[]> {
  const faults: string[] = []
  for (const settings of [{}, { org: ours }]) {
    for (const statement of [`SELECT FROM ${table.name}`, ...changesOf(table)]) {
      const done = await attempt(client, settings, statement)
      if (done !== '42501') faults.push(`lets the app do more than insert (${done}): ${statement}`)
    }
  }
  return faults
}

/** A setting is read once a statement: in the plan it stands below an InitPlan and nowhere else. */
async function asksPerRow(client: pg.ClientBase, table: Table): Promise<string[]> {
  const faults: string[] = []
  const [column] = table.readable
  for (const statement of [...(column ? [`SELECT ${column} FROM ${table.name}`] : []), ...changesOf(table)]) {
    const plan = await explain(client, statement)
    if (plan && hasSettingPerRow(plan, false)) faults.push(`reads a setting for each row: ${statement}`)
  }
  return faults
}

type Plan = { 'Parent Relationship'?: string; Plans?: Plan[] } & Record<string, unknown>

function hasSettingPerRow({ Plans = [], ...node }: Plan, inside: boolean): boolean {
  const once = inside || node['Parent Relationship'] === 'InitPlan'
  if (!once && JSON.stringify(node).includes('current_setting')) return true
  return Plans.some((child) => hasSettingPerRow(child, once))
}

/** Whose row it is: the org itself, the org a user is at home in, or the org the row names. */
function ownerColumn({ name }: Table): string {
  return { 'identity.orgs': 'id', 'identity.users': 'home_org_id' }[name] ?? 'org_id'
}

/** Inserts a copy of a planted row, of the org given; a table that the app reads not at all is copied from nothing. */
function copyOf(table: Table, org?: string): string {
  const columns = table.writable.length > 0 ? table.writable : table.columns
  const values = columns.map((name) => (org && name === ownerColumn(table) ? `'${org}'` : `(row_of).${name}`))
  return `INSERT INTO ${table.name} (${columns.join(', ')})
    SELECT ${values.join(', ')} FROM (SELECT jsonb_populate_record(NULL::${table.name}, planted) AS row_of
      FROM planted_rows WHERE table_name = '${table.name}' LIMIT 1) AS copy`
}

function changesOf({ name, changeable, columns }: Table): string[] {
  const column = changeable[0] ?? columns[0]!
  return [`UPDATE ${name} SET ${column} = DEFAULT`, `DELETE FROM ${name}`]
}

/** The number of rows that a statement of the app's concerns, or the code it fails with. Leaves nothing behind. */
async function attempt(client: pg.ClientBase, settings: Settings, statement: string): Promise<number | string> {
  await client.query('SAVEPOINT attempt')
  try {
    await client.query('SET LOCAL ROLE moothall_app')
    await client.query(
      `SELECT set_config('moothall.org_id', $1, true), set_config('moothall.user_id', $2, true),
         set_config('moothall.room_id', $3, true)`,
      [settings.org ?? '', settings.user ?? '', settings.room ?? ''],
    )
    return (await client.query(statement)).rowCount ?? 0
  } catch (error) {
    return (error as pg.DatabaseError).code ?? String(error)
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT attempt')
  }
}

async function explain(client: pg.ClientBase, statement: string): Promise<Plan | undefined> {
  await client.query('SAVEPOINT attempt')
  try {
    await client.query('SET LOCAL ROLE moothall_app')
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (VERBOSE, FORMAT JSON) ${statement}`,
    )
    return rows[0]?.['QUERY PLAN'][0].Plan
  } catch {
    return undefined // not granted at all
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT attempt')
  }
}
