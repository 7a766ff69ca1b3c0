import { readFile } from 'node:fs/promises'
import type pg from 'pg'

export const SCHEMAS = ['identity', 'rooms', 'work', 'gate', 'plugins', 'platform']

/** Columns that the app may not read; the models leave them out, and rows that have one are written by SQL. */
const UNREADABLE = [
  'identity.users.password_hash',
  'identity.sessions.token_hash',
  'identity.sessions.csrf_hash',
  'identity.api_keys.secret_hash',
  'identity.login_tokens.token_hash',
  'identity.login_tokens.code_hash',
  'rooms.room_links.token_hash',
  'rooms.ics_feed_tokens.token_hash',
  'rooms.ics_feed_tokens.lookup_prefix',
]
/** Columns of a type that Prisma lacks, read by SQL. */
const UNTYPED = ['platform.audit_events.xact_id']
/** The migration runner's own, and what the app may read no row of. */
const UNMODELLED = ['platform._prisma_migrations', 'identity.waitlist', 'identity.embed_handoffs']
/** Relations to rows that may be gone: the column is a value and no foreign key. */
const LOOSE_RELATIONS = [
  'AuditEvent.actor',
  'AuditEvent.space',
  'AuditEvent.room',
  'AuditEvent.toolInvocation',
  'ToolInvocation.apiKey',
]

/** What a column of each type is in a model. Instants are strings, or they would lose their microseconds. */
const TYPES: Record<string, string> = {
  uuid: 'String @db.Uuid',
  text: 'String',
  timestamptz: 'String',
  date: 'String',
  time: 'String',
  bool: 'Boolean',
  int2: 'Int @db.SmallInt',
  int4: 'Int',
  int8: 'BigInt',
  float8: 'Float',
  jsonb: 'Json',
  bytea: 'Bytes',
  inet: 'String @db.Inet',
  _int2: 'Int[] @db.SmallInt',
  _text: 'String[]',
  _uuid: 'String[] @db.Uuid',
}

type Field = {
  name: string
  dbName?: string
  kind: 'scalar' | 'object' | 'enum' | 'unsupported'
  type: string
  nativeType: [name: string, args: unknown[]] | null
  isList: boolean
  isRequired: boolean
  isId: boolean
  isUnique: boolean
  isUpdatedAt: boolean
  hasDefaultValue: boolean
  default?: unknown
  relationFromFields?: string[]
  relationToFields?: string[]
  relationOnDelete?: string
}
type Model = {
  name: string
  dbName: string | null
  schema: string
  fields: Field[]
  primaryKey: { fields: string[] } | null
  uniqueFields: string[][]
}
export type DataModel = { models: Model[]; enums: { name: string }[] }

type Column = { name: string; type: string; required: boolean; default: string | null; readable: boolean }
type Table = { name: string; columns: Column[]; keys: string[]; primary: string; references: string[] }

export async function readModel(): Promise<DataModel> {
  return JSON.parse(await readFile('src/generated/dmmf.json', 'utf8'))
}

/** Where the Prisma model and the database tell different stories, in sentences that name the place. */
export async function compareCatalog(client: pg.ClientBase, model: DataModel): Promise<string[]> {
  const tables = new Map((await readTables(client)).map((table) => [table.name, table]))
  const modelled = new Set(model.models.map(tableOf))
  return [
    ...model.enums.map(({ name }) => `enum ${name}: enums break filters on text columns`),
    ...[...tables.keys()]
      .filter((name) => !modelled.has(name) && !UNMODELLED.includes(name))
      .map((name) => `${name} has no model`),
    ...compareLists('may not be read', 'UNREADABLE', unreadable([...tables.values()]), UNREADABLE),
    ...model.models.flatMap((each) => {
      const table = tables.get(tableOf(each))
      return table ? compareTable(each, table, model) : [`model ${each.name} has no table`]
    }),
  ]
}

function compareTable(model: Model, table: Table, { models }: DataModel): string[] {
  const columns = new Map(model.fields.map((field) => [field.name, field.dbName ?? field.name]))
  const list = (fields: readonly string[], of = columns) => fields.map((field) => of.get(field) ?? field).join(', ')
  const scalars = model.fields.filter((field) => field.kind !== 'object')
  const primary = model.primaryKey?.fields ?? model.fields.filter((field) => field.isId).map((field) => field.name)
  const uniques = [...model.uniqueFields, ...model.fields.filter((field) => field.isUnique).map(({ name }) => [name])]
  const hidden = [...UNREADABLE, ...UNTYPED]
  const shown = table.columns.filter((column) => !hidden.includes(`${table.name}.${column.name}`))
  return [
    ...compareLists(
      'is a column',
      model.name,
      shown.map(({ name }) => name),
      scalars.map(({ name }) => columns.get(name)!),
    ),
    ...scalars.flatMap((field) => {
      const column = table.columns.find(({ name }) => name === columns.get(field.name))
      return column ? compareColumn(field, column).map((fault) => `${model.name}.${field.name} ${fault}`) : []
    }),
    ...(list(primary) === table.primary
      ? []
      : [`${model.name} has the key (${list(primary)}), not (${table.primary})`]),
    ...uniques
      .filter((fields) => !table.keys.includes(list(fields)))
      .map((fields) => `${model.name} says (${list(fields)}) is unique`),
    ...model.fields.flatMap((field) => {
      const { relationFromFields: from = [], relationToFields: to = [], relationOnDelete } = field
      if (from.length === 0 || LOOSE_RELATIONS.includes(`${model.name}.${field.name}`)) return []
      const target = models.find(({ name }) => name === field.type)!
      const theirs = new Map(target.fields.map((each) => [each.name, each.dbName ?? each.name]))
      const reference = `(${list(from)}) to ${tableOf(target)} (${list(to, theirs)})`
      return [
        ...(table.references.includes(reference)
          ? []
          : [`${model.name}.${field.name} has no foreign key ${reference}`]),
        ...(relationOnDelete === 'NoAction' ? [] : [`${model.name}.${field.name} deletes in the client's stead`]),
      ]
    }),
  ]
}

function compareColumn(field: Field, column: Column): string[] {
  const type = `${field.type}${field.isList ? '[]' : ''}${field.nativeType ? ` @db.${field.nativeType[0]}` : ''}`
  const expected = TYPES[column.type] ?? `nothing known for ${column.type}`
  return [
    ...(field.kind === 'scalar' ? [] : [`is an ${field.kind}`]),
    ...(type === expected ? [] : [`is ${type}, not ${expected}`]),
    ...(field.isRequired === column.required ? [] : [`is ${field.isRequired ? '' : 'not '}required`]),
    ...(defaultOf(field) === column.default ? [] : [`has the default ${defaultOf(field)}, not ${column.default}`]),
    ...(field.isUpdatedAt ? ['is written by the client, which the app may not'] : []),
  ]
}

/** A field's default as the catalog prints it. */
function defaultOf({ hasDefaultValue, default: value, type }: Field): string | null {
  if (!hasDefaultValue) return null
  if (typeof value === 'object') return (value as { args: [string] }).args[0]
  return type === 'String' ? `'${value}'::text` : type === 'Json' ? `'${value}'::jsonb` : String(value)
}

function tableOf({ schema, dbName, name }: Model): string {
  return `${schema}.${dbName ?? name}`
}

function unreadable(tables: Table[]): string[] {
  return tables
    .filter(({ name }) => !UNMODELLED.includes(name))
    .flatMap(({ name, columns }) => columns.filter((c) => !c.readable).map((c) => `${name}.${c.name}`))
}

function compareLists(claim: string, place: string, real: string[], said: string[]): string[] {
  return [
    ...real.filter((name) => !said.includes(name)).map((name) => `${name} ${claim}, which ${place} lacks`),
    ...said.filter((name) => !real.includes(name)).map((name) => `${place} says that ${name} ${claim}`),
  ]
}

async function readTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `WITH named AS (
       SELECT c.oid, n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition),
     keys AS (
       SELECT indrelid, indisprimary, (
         SELECT string_agg(attname, ', ' ORDER BY at) FROM unnest(indkey::smallint[]) WITH ORDINALITY AS k (num, at)
         JOIN pg_attribute ON attrelid = indrelid AND attnum = num) AS columns
       FROM pg_index WHERE indisunique AND indpred IS NULL AND indexprs IS NULL)
     SELECT name,
       (SELECT jsonb_agg(jsonb_build_object('name', attname, 'type', coalesce(b.typname, t.typname),
          'required', attnotnull, 'default', pg_get_expr(adbin, adrelid),
          'readable', has_column_privilege('moothall_app', attrelid, attnum, 'SELECT')) ORDER BY attnum)
        FROM pg_attribute JOIN pg_type t ON t.oid = atttypid LEFT JOIN pg_type b ON b.oid = t.typbasetype
          LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attrelid = named.oid AND attnum > 0 AND NOT attisdropped) AS columns,
       ARRAY(SELECT columns FROM keys WHERE indrelid = named.oid) AS keys,
       (SELECT columns FROM keys WHERE indrelid = named.oid AND indisprimary) AS "primary",
       ARRAY(SELECT format('(%s) to %s (%s)', here, r.name, there)
         FROM pg_constraint k JOIN named r ON r.oid = confrelid, LATERAL (
           SELECT string_agg(l.attname, ', ' ORDER BY at) AS here, string_agg(f.attname, ', ' ORDER BY at) AS there
           FROM unnest(conkey, confkey) WITH ORDINALITY AS pair (l, f, at)
           JOIN pg_attribute l ON l.attrelid = conrelid AND l.attnum = pair.l
           JOIN pg_attribute f ON f.attrelid = confrelid AND f.attnum = pair.f) AS columns
         WHERE contype = 'f' AND conrelid = named.oid) AS "references"
     FROM named ORDER BY name`,
    [SCHEMAS],
  )
  return rows
}
