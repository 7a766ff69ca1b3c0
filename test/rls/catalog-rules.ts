import type pg from 'pg'

export const SCHEMAS = ['identity', 'rooms', 'work', 'gate', 'plugins', 'platform']

/** The tables that are no tenant tables (PLAT-1), and what stands in for `org_id` there. */
export const GLOBAL_TABLES: Record<string, 'own policies' | 'insert only' | 'no rights' | 'no row security'> = {
  'identity.orgs': 'own policies',
  'identity.users': 'own policies',
  'identity.sessions': 'own policies',
  'identity.waitlist': 'insert only',
  'identity.embed_handoffs': 'no rights',
  'platform.rate_limits': 'no row security',
  'platform.instance': 'no row security',
  'platform._prisma_migrations': 'no row security',
}

/** Whether row security stands between its rows and the app. */
export const isSecured = (table: string): boolean =>
  !['no rights', 'no row security'].includes(GLOBAL_TABLES[table] ?? 'own policies')

/** Unique keys over all orgs. */
const GLOBAL_KEYS = [
  'identity.orgs_pkey',
  'identity.orgs_slug_key',
  'identity.users_pkey',
  'identity.users_oidc_key',
  'identity.users_email_key',
  'identity.sessions_pkey',
  'identity.sessions_token_hash_key',
  'identity.login_tokens_token_hash_key',
  'identity.waitlist_pkey',
  'identity.embed_handoffs_pkey',
  'identity.waitlist_email_key',
  'identity.agents_id_key',
  'identity.api_keys_prefix_key',
  'rooms.room_links_token_hash_key',
  'rooms.ics_feed_tokens_lookup_prefix_key',
  'platform.rate_limits_pkey',
  'platform.instance_pkey',
  'platform.instance_single_key',
  'platform._prisma_migrations_pkey',
]

/** Tenant tables that a guest reads beyond one room, because their spec says so. */
export const OPEN_TO_GUESTS = ['rooms.room_kinds', 'platform.idempotency_keys']

const PARAMETERS = {
  schemas: SCHEMAS,
  global: Object.keys(GLOBAL_TABLES),
  unsecured: Object.keys(GLOBAL_TABLES).filter((name) => !isSecured(name)),
  barred: Object.keys(GLOBAL_TABLES).filter((name) => GLOBAL_TABLES[name] === 'no rights'),
  keys: GLOBAL_KEYS,
  guests: OPEN_TO_GUESTS,
}

/** `org_id = ORG` as the server prints it; every permissive policy of a tenant table begins with it. */
const setting = (name: string) =>
  `( SELECT (NULLIF(current_setting('moothall.${name}'::text, true), ''::text))::uuid AS "nullif")`
const TENANT = `(org_id = ${setting('org_id')})`

const COMMON = `
  tables AS (
    SELECT c.oid, c.relowner, c.relacl, c.relrowsecurity, c.relforcerowsecurity, c.relispartition,
      n.nspname || '.' || c.relname AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($schemas) AND c.relkind IN ('r', 'p')),
  tenants AS (SELECT * FROM tables WHERE NOT relispartition AND name <> ALL ($global)),
  policies AS (
    SELECT t.name, t.name || ' ' || p.polname AS policy, p.polpermissive AS permissive, polcmd AS command,
      'moothall_app'::regrole = ANY (p.polroles) OR p.polroles = '{0}' AS applies,
      pg_get_expr(p.polqual, p.polrelid) AS shown, pg_get_expr(p.polwithcheck, p.polrelid) AS written
    FROM pg_policy p JOIN tables t ON t.oid = p.polrelid),
  functions AS (
    SELECT p.*, p.oid::regprocedure::text AS name FROM pg_proc p
    WHERE p.pronamespace::regnamespace::text = ANY ($schemas)),
  relations AS (
    SELECT c.*, c.oid::regclass::text AS name FROM pg_class c
    WHERE c.relnamespace::regnamespace::text = ANY ($schemas)),
  rights AS (
    SELECT 'schema ' || nspname AS object, a.grantee, a.privilege_type, nspowner AS owner
      FROM pg_namespace, aclexplode(coalesce(nspacl, acldefault('n', nspowner))) a WHERE nspname = ANY ($schemas)
    UNION ALL SELECT name, a.grantee, a.privilege_type, relowner
      FROM relations, aclexplode(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner))) a
    UNION ALL SELECT name || '.' || attname, a.grantee, a.privilege_type, relowner
      FROM relations JOIN pg_attribute ON attrelid = relations.oid, aclexplode(attacl) a
    UNION ALL SELECT name, a.grantee, a.privilege_type, proowner
      FROM functions, aclexplode(coalesce(proacl, acldefault('f', proowner))) a)`

/** Each rule is a query whose rows are what breaks it. */
const RULES = {
  'has no row security': `SELECT name FROM tables WHERE NOT relrowsecurity AND name <> ALL ($unsecured)
    AND NOT relispartition`,
  'forces row security on its owner': 'SELECT name FROM tables WHERE relforcerowsecurity',
  'has no permissive policy': `SELECT name FROM tables WHERE name <> ALL ($unsecured) AND NOT relispartition
    AND NOT EXISTS (SELECT FROM policies p WHERE p.name = tables.name AND p.permissive AND p.applies)`,
  'is not held to the org': `SELECT policy FROM policies JOIN tenants USING (name) WHERE permissive AND applies
    AND EXISTS (SELECT FROM unnest(ARRAY[shown, written]) e WHERE e IS NOT NULL AND e <> $tenant
      AND NOT starts_with(e, '(' || $tenant || ' AND '))`,
  'is open to guests': `SELECT name FROM tenants WHERE name <> ALL ($guests)
    AND NOT EXISTS (SELECT FROM policies p WHERE p.name = tenants.name AND NOT p.permissive AND p.applies
      AND p.command = '*' AND strpos(p.shown, $room) > 0)`,
  'reads a setting outside a sub-select': `SELECT policy FROM policies, unnest(ARRAY[shown, written]) e
    WHERE regexp_replace(e, $settings, '', 'g') ~ 'current_setting'`,
  'has a primary key not led by org_id': `SELECT name FROM tenants WHERE NOT EXISTS (
    SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = tenants.oid AND i.indisprimary AND a.attname = 'org_id')`,
  'is unique over all orgs': `SELECT i.indexrelid::regclass::text FROM pg_index i JOIN tables t ON t.oid = i.indrelid
    WHERE i.indisunique AND i.indexrelid::regclass::text <> ALL ($keys) AND NOT EXISTS (
      SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attname = 'org_id' AND a.attnum = ANY (
        (i.indkey::smallint[])[0:i.indnkeyatts - 1]))`,
  'refers to a tenant table without org_id': `SELECT t.name || ' ' || k.conname
    FROM pg_constraint k JOIN tables t ON t.oid = k.conrelid JOIN tenants r ON r.oid = k.confrelid
    WHERE k.contype = 'f' AND NOT EXISTS (
      SELECT FROM unnest(k.conkey, k.confkey) AS pair (here, there)
      JOIN pg_attribute f ON f.attrelid = r.oid AND f.attnum = there AND f.attname = 'org_id'
      JOIN pg_attribute l ON l.attrelid = t.oid AND l.attnum = here
        AND l.attname = CASE WHEN t.name = 'identity.users' THEN 'home_org_id' ELSE 'org_id' END)`,
  'would null its org': `SELECT t.name || ' ' || k.conname FROM pg_constraint k JOIN tables t ON t.oid = k.conrelid
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname IN ('org_id', 'home_org_id') AND a.attnum = ANY (k.conkey)
    WHERE k.contype = 'f' AND k.confdeltype IN ('n', 'd')
      AND (k.confdelsetcols IS NULL OR a.attnum = ANY (k.confdelsetcols))`,
  'would be rewritten by its foreign key': `SELECT t.name || ' ' || k.conname
    FROM pg_constraint k JOIN tables t ON t.oid = k.conrelid
    WHERE k.contype = 'f' AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd')) AND EXISTS (
      SELECT FROM pg_trigger g WHERE g.tgrelid = t.oid AND g.tgfoid = 'platform.append_only'::regproc)`,
  'runs as its owner without a pinned search_path': `SELECT name FROM functions WHERE prosecdef
    AND NOT coalesce(proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp']`,
  'is a trigger function that may be called': `SELECT name FROM functions JOIN rights ON object = name
    WHERE prorettype = 'trigger'::regtype AND grantee <> proowner`,
  'reads as its owner': `SELECT name FROM relations WHERE relkind = 'v'
    AND NOT coalesce(reloptions, '{}') && ARRAY['security_invoker=true', 'security_invoker=on']`,
  'is materialised or foreign': `SELECT name FROM relations WHERE relkind IN ('m', 'f')`,
  'is granted on a partition': `SELECT object FROM rights JOIN tables ON name = object
    WHERE relispartition AND grantee <> owner`,
  'belongs to another role': `SELECT name FROM relations WHERE relowner <> 'moothall_owner'::regrole
    UNION ALL SELECT name FROM functions WHERE proowner <> 'moothall_owner'::regrole
    UNION ALL SELECT nspname FROM pg_namespace WHERE nspname = ANY ($schemas) AND nspowner <> 'moothall_owner'::regrole
    UNION ALL SELECT oid::regtype::text FROM pg_type
      WHERE typnamespace::regnamespace::text = ANY ($schemas) AND typowner <> 'moothall_owner'::regrole`,
  'belongs to the app': `SELECT classid::regclass || ' ' || objid FROM pg_shdepend
    WHERE refobjid = 'moothall_app'::regrole AND deptype = 'o'
      AND dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))`,
  'is open to PUBLIC': `SELECT object || ' ' || privilege_type FROM rights WHERE grantee = 0`,
  'is granted to a stranger': `SELECT object || ' ' || privilege_type FROM rights
    WHERE grantee NOT IN (0, owner, 'moothall_app'::regrole)`,
  'gives the app more than rows': `SELECT object || ' ' || privilege_type FROM rights
    WHERE grantee = 'moothall_app'::regrole
      AND privilege_type NOT IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'EXECUTE', 'USAGE')`,
  'is within reach of the app': `SELECT object FROM rights, unnest($barred) AS barred (name)
    WHERE grantee = 'moothall_app'::regrole AND (object = barred.name OR starts_with(object, barred.name || '.'))`,
  'lets the app rewrite whole rows': `SELECT object FROM rights JOIN tables ON name = object
    WHERE grantee = 'moothall_app'::regrole AND privilege_type = 'UPDATE' AND name <> ALL ($unsecured)`,
  'lets the app move a row': `SELECT t.name || '.' || a.attname FROM tenants t JOIN pg_attribute a ON a.attrelid = t.oid
    WHERE (a.attname = 'org_id' OR a.attnum = ANY (SELECT unnest(indkey) FROM pg_index
        WHERE indrelid = t.oid AND indisprimary))
      AND has_column_privilege('moothall_app', t.oid, a.attnum, 'UPDATE')`,
  'has a power it must not have': `SELECT rolname FROM pg_roles WHERE rolname = 'moothall_app'
      AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)
    UNION ALL SELECT 'moothall_app, a member of ' || roleid::regrole FROM pg_auth_members
      WHERE member = 'moothall_app'::regrole
    UNION ALL SELECT 'moothall_app in schema ' || nspname FROM pg_namespace
      WHERE nspname !~ '^pg_' AND has_schema_privilege('moothall_app', oid, 'CREATE')
    UNION ALL SELECT 'moothall_app in the database'
      WHERE has_database_privilege('moothall_app', current_database(), 'CREATE')`,
  'watches a column that is not there': `SELECT t.name || ' ' || g.tgname
    FROM pg_trigger g JOIN tables t ON t.oid = g.tgrelid,
      unnest(string_to_array(encode(g.tgargs, 'escape'), '\\000')) AS argument
    WHERE g.tgfoid IN ('platform.set_once'::regproc, 'identity.require_standing'::regproc) AND argument <> ''
      AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = argument AND a.attnum > 0)`,
}

export type CatalogRule = keyof typeof RULES
export const CATALOG_RULES = Object.keys(RULES) as CatalogRule[]

/** What in the catalog breaks a rule of isolation, as `object rule`. */
export async function findCatalogFaults(client: pg.ClientBase): Promise<string[]> {
  const faults: string[] = []
  for (const [rule, query] of Object.entries(RULES)) {
    const { rows } = await client.query<string[]>({ text: withParameters(query), rowMode: 'array' })
    faults.push(...rows.map(([object]) => `${object} ${rule}`))
  }
  return faults
}

function withParameters(query: string): string {
  const values: Record<string, string> = {
    tenant: quote(TENANT),
    room: quote(setting('room_id')),
    settings: quote(
      setting('NAME')
        .replace(/[()'.]/g, '\\$&')
        .replace('NAME', '(org|user|room)_id'),
    ),
  }
  for (const [name, list] of Object.entries(PARAMETERS)) values[name] = `ARRAY[${list.map(quote).join(', ')}]`
  return `WITH ${COMMON} ${query}`.replace(/\$([a-z]+)/g, (_, name: string) => values[name] ?? `missing ${name}`)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
