import type { ClientBase } from 'pg'
import { APP_ROLE } from './roles.ts'

const SCHEMAS = ['identity', 'rooms', 'work', 'gate', 'plugins', 'platform']

/**
 * What would let the connected role past tenant isolation, in sentences; empty when nothing would (PLAT-2). The
 * server connects as this role, so it asks at start and refuses to serve with a fault.
 */
export async function isolationFaults(client: ClientBase): Promise<string[]> {
  const role = await readRole(client)
  if (!role.appExists) return [`the role ${APP_ROLE} does not exist`]
  const faults = role.name === APP_ROLE ? [] : [`connected as ${role.name}, not as ${APP_ROLE}`]
  faults.push(...role.powers.map((power) => `${role.name} ${power}`))
  faults.push(...(await ownedObjects(client)).map((object) => `${role.name} owns ${object}`))
  // Everything below is granted to a superuser without saying.
  if (!role.isSuperuser) {
    faults.push(...(await creatablePlaces(client)).map((place) => `${role.name} may create in ${place}`))
    faults.push(...(await strongMemberships(client)).map((other) => `${role.name} is a member of ${other}`))
  }
  return [...faults, ...(await openTables(client))]
}

type Role = { name: string; isSuperuser: boolean; powers: string[]; appExists: boolean }

async function readRole(client: ClientBase): Promise<Role> {
  const { rows } = await client.query<Role>(
    `SELECT rolname AS name, rolsuper AS "isSuperuser", to_regrole('${APP_ROLE}') IS NOT NULL AS "appExists",
            array_remove(ARRAY[
              CASE WHEN rolsuper THEN 'is a superuser' END,
              CASE WHEN rolbypassrls THEN 'bypasses row security' END,
              CASE WHEN rolcreaterole THEN 'may create roles' END,
              CASE WHEN rolcreatedb THEN 'may create databases' END,
              CASE WHEN rolreplication THEN 'may read the write-ahead log' END], NULL) AS powers
       FROM pg_roles WHERE rolname = current_user`,
  )
  if (!rows[0]) throw new Error('the connected role is not in the catalog')
  return rows[0]
}

async function ownedObjects(client: ClientBase): Promise<string[]> {
  return names(
    client,
    `SELECT object.type || ' ' || object.identity AS name
       FROM pg_shdepend AS owning
       CROSS JOIN (SELECT oid FROM pg_database WHERE datname = current_database()) AS here
       CROSS JOIN LATERAL pg_identify_object(owning.classid, owning.objid, owning.objsubid) AS object
      WHERE owning.refclassid = 'pg_authid'::regclass AND owning.refobjid = current_user::regrole AND owning.deptype = 'o'
        AND CASE WHEN owning.dbid = 0 THEN owning.classid = 'pg_database'::regclass AND owning.objid = here.oid
                 ELSE owning.dbid = here.oid
                      AND (object.schema = ANY ($1) OR object.type = 'schema' AND object.identity = ANY ($1)) END
      ORDER BY 1`,
    [SCHEMAS],
  )
}

async function creatablePlaces(client: ClientBase): Promise<string[]> {
  return names(
    client,
    `SELECT 'the database' AS name WHERE has_database_privilege(current_database(), 'CREATE')
     UNION ALL
     SELECT 'schema ' || nspname FROM pg_namespace
      WHERE nspname !~ '^pg_(temp|toast)' AND has_schema_privilege(oid, 'CREATE')
      ORDER BY 1`,
  )
}

/** Roles it could become, or acts as already, that are past the rules or own what the rules stand on. */
async function strongMemberships(client: ClientBase): Promise<string[]> {
  return names(
    client,
    `SELECT rolname AS name FROM pg_roles AS other
      WHERE rolname <> current_user AND pg_has_role(oid, 'MEMBER')
        AND (rolsuper OR rolbypassrls OR rolreplication
             OR EXISTS (SELECT FROM pg_namespace WHERE nspname = ANY ($1) AND nspowner = other.oid)
             OR EXISTS (SELECT FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname = ANY ($1))
                                               AND relowner = other.oid))
      ORDER BY 1`,
    [SCHEMAS],
  )
}

/**
 * Tenant tables, told by their org_id, whose rows the application could reach without a policy in between. A table (or
 * partition) on which it has no right at all is out of its reach.
 */
async function openTables(client: ClientBase): Promise<string[]> {
  return names(
    client,
    `SELECT format('%I.%I', schema.nspname, relation.relname) ||
            CASE WHEN relation.relrowsecurity THEN ' has no policy for ${APP_ROLE}' ELSE ' has no row security' END AS name
       FROM pg_class AS relation
       JOIN pg_namespace AS schema ON schema.oid = relation.relnamespace AND schema.nspname = ANY ($1)
       JOIN pg_attribute AS tenant ON tenant.attrelid = relation.oid AND tenant.attname = 'org_id' AND NOT tenant.attisdropped
      WHERE relation.relkind IN ('r', 'p')
        AND (has_any_column_privilege('${APP_ROLE}', relation.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
             OR has_table_privilege('${APP_ROLE}', relation.oid, 'DELETE, TRUNCATE, TRIGGER'))
        AND NOT (relation.relrowsecurity
                 AND EXISTS (SELECT FROM pg_policy
                              WHERE polrelid = relation.oid AND polpermissive AND '${APP_ROLE}'::regrole = ANY (polroles)))
      ORDER BY 1`,
    [SCHEMAS],
  )
}

async function names(client: ClientBase, sql: string, values: unknown[] = []): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(sql, values)
  return rows.map((row) => row.name)
}
