import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { CATALOG_RULES, type CatalogRule, findCatalogFaults } from './catalog-rules.ts'
import { findFaults } from './checks.ts'
import { findLeaks } from './leaks.ts'

let database: TestDatabase
let superuser: pg.Client

beforeAll(async () => {
  database = await createDatabase()
  superuser = new pg.Client({ connectionString: database.superuserUrl })
  await superuser.connect()
})

afterAll(async () => {
  await superuser?.end()
  await database?.drop()
})

/** What is found after these statements of the owner's, which leave nothing behind. */
async function breaking(statements: string, find: (client: pg.Client) => Promise<string[]>): Promise<string[]> {
  await superuser.query('BEGIN')
  try {
    await superuser.query(`SET LOCAL ROLE moothall_owner; ${statements}; RESET ROLE`)
    return await find(superuser)
  } finally {
    await superuser.query('ROLLBACK')
  }
}

it('PLAT-1 every table of the six schemas keeps orgs and guests apart', async () => {
  expect(await breaking('', findFaults)).toEqual([])
})

/** One way to break each rule of the catalog, and the object that is then named. */
const BROKEN: Record<CatalogRule, [statements: string, object: string]> = {
  'has no row security': ['ALTER TABLE identity.users DISABLE ROW LEVEL SECURITY', 'identity.users'],
  'forces row security on its owner': ['ALTER TABLE identity.orgs FORCE ROW LEVEL SECURITY', 'identity.orgs'],
  'has no permissive policy': ['DROP POLICY tenant ON identity.memberships', 'identity.memberships'],
  'is not held to the org': [
    'CREATE POLICY wide ON identity.memberships FOR SELECT TO moothall_app USING (true)',
    'identity.memberships wide',
  ],
  'is open to guests': ['DROP POLICY guest_room ON platform.audit_events', 'platform.audit_events'],
  'reads a setting outside a sub-select': [
    `CREATE POLICY slow ON identity.orgs FOR SELECT TO moothall_app
       USING (id = nullif(current_setting('moothall.org_id', true), '')::uuid)`,
    'identity.orgs slow',
  ],
  'has a primary key not led by org_id': ['CREATE TABLE work.things (id uuid PRIMARY KEY, org_id uuid)', 'work.things'],
  'is unique over all orgs': [
    'ALTER TABLE identity.memberships ADD UNIQUE (username)',
    'identity.memberships_username_key1',
  ],
  'refers to a tenant table without org_id': [
    `CREATE TABLE work.things (org_id uuid, user_id uuid, other_org_id uuid, PRIMARY KEY (org_id, user_id),
       CONSTRAINT across FOREIGN KEY (other_org_id, user_id) REFERENCES identity.memberships (org_id, user_id))`,
    'work.things across',
  ],
  'would null its org': [
    `CREATE TABLE work.things (org_id uuid, user_id uuid, CONSTRAINT nulling FOREIGN KEY (org_id, user_id)
       REFERENCES identity.memberships (org_id, user_id) ON DELETE SET NULL)`,
    'work.things nulling',
  ],
  'would be rewritten by its foreign key': [
    `ALTER TABLE platform.audit_events ADD CONSTRAINT actor FOREIGN KEY (actor_user_id)
       REFERENCES identity.users (id) ON DELETE SET NULL`,
    'platform.audit_events actor',
  ],
  'runs as its owner without a pinned search_path': [
    'CREATE FUNCTION work.peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT count(*) FROM identity.orgs $$',
    'work.peek()',
  ],
  'is a trigger function that may be called': [
    'GRANT EXECUTE ON FUNCTION identity.handle_guard() TO moothall_app',
    'identity.handle_guard()',
  ],
  'reads as its owner': ['CREATE VIEW work.people AS SELECT id FROM identity.users', 'work.people'],
  'is materialised or foreign': [
    'CREATE MATERIALIZED VIEW work.people AS SELECT id FROM identity.users',
    'work.people',
  ],
  'is granted on a partition': [
    `CREATE TABLE work.things (org_id uuid) PARTITION BY HASH (org_id);
     CREATE TABLE work.things_0 PARTITION OF work.things FOR VALUES WITH (MODULUS 1, REMAINDER 0);
     GRANT SELECT ON work.things_0 TO moothall_app`,
    'work.things_0',
  ],
  'belongs to another role': ['RESET ROLE; CREATE TABLE work.things (id integer)', 'work.things'],
  'belongs to the app': [
    'RESET ROLE; CREATE TABLE work.things (id integer); ALTER TABLE work.things OWNER TO moothall_app',
    'pg_class',
  ],
  'is open to PUBLIC': ['GRANT SELECT (slug) ON identity.orgs TO PUBLIC', 'identity.orgs.slug SELECT'],
  'is granted to a stranger': ['GRANT SELECT ON identity.orgs TO pg_monitor', 'identity.orgs SELECT'],
  'gives the app more than rows': ['GRANT TRUNCATE ON identity.orgs TO moothall_app', 'identity.orgs TRUNCATE'],
  'is within reach of the app': [
    'GRANT SELECT (provider) ON identity.embed_handoffs TO moothall_app',
    'identity.embed_handoffs.provider',
  ],
  'lets the app rewrite whole rows': ['GRANT UPDATE ON identity.users TO moothall_app', 'identity.users'],
  'lets the app move a row': [
    'GRANT UPDATE (org_id) ON identity.memberships TO moothall_app',
    'identity.memberships.org_id',
  ],
  'has a power it must not have': ['GRANT CREATE ON SCHEMA work TO moothall_app', 'moothall_app in schema work'],
  'watches a column that is not there': [
    `CREATE TRIGGER once BEFORE UPDATE ON identity.users FOR EACH ROW EXECUTE FUNCTION platform.set_once('nick')`,
    'identity.users once',
  ],
}

describe('PLAT-1 the guard reddens', () => {
  it.each(CATALOG_RULES)('when something %s', async (rule) => {
    const [statements, object] = BROKEN[rule]
    const faults = await breaking(statements, findCatalogFaults)
    expect(faults.filter((fault) => fault.startsWith(object) && fault.endsWith(rule))).not.toEqual([])
  })

  it.each([
    ['gives 2 without an org', 'CREATE POLICY wide ON identity.memberships FOR SELECT TO moothall_app USING (true)'],
    ['gives 1 of another org', 'CREATE POLICY wide ON identity.memberships FOR SELECT TO moothall_app USING (true)'],
    ['gives 1 to a guest', 'DROP POLICY guest_none ON identity.memberships'],
    [
      'takes a row without an org',
      'CREATE POLICY wide ON identity.memberships FOR INSERT TO moothall_app WITH CHECK (true)',
    ],
    [
      'takes a row of another org',
      'CREATE POLICY wide ON identity.memberships FOR INSERT TO moothall_app WITH CHECK (true)',
    ],
    ['takes a row of a guest', 'DROP POLICY guest_none ON identity.memberships'],
    ['is changed without an org', 'CREATE POLICY wide ON identity.memberships FOR ALL TO moothall_app USING (true)'],
    ['is changed from another org', 'CREATE POLICY wide ON identity.memberships FOR ALL TO moothall_app USING (true)'],
    [
      'reads a setting for each row',
      `CREATE POLICY slow ON identity.memberships FOR SELECT TO moothall_app
         USING (org_id = nullif(current_setting('moothall.org_id', true), '')::uuid)`,
    ],
  ])('when a table %s', async (fault, statements) => {
    const faults = await breaking(statements, (client) => findLeaks(client, 'identity.memberships'))
    expect(faults.filter((found) => found.startsWith(`identity.memberships ${fault}`))).not.toEqual([])
  })

  it.each([
    ['is read', 'GRANT SELECT ON identity.waitlist TO moothall_app'],
    ['is changed', 'GRANT UPDATE (note) ON identity.waitlist TO moothall_app'],
    ['gives rows up', 'GRANT DELETE ON identity.waitlist TO moothall_app'],
  ])('when a table that only takes rows %s', async (_, statements) => {
    const faults = await breaking(statements, (client) => findLeaks(client, 'identity.waitlist'))
    expect(faults.join()).toMatch(/^identity.waitlist lets the app do more than insert/)
  })

  it('when a new table has no row security at all', async () => {
    const faults = await breaking(
      `CREATE TABLE work.things (org_id uuid PRIMARY KEY, body text);
       GRANT SELECT, INSERT, UPDATE, DELETE ON work.things TO moothall_app`,
      findFaults,
    )
    for (const fault of [
      'has no row security',
      'gives 2 without an org',
      'gives 1 of another org',
      'takes a row without an org (23505)',
    ]) {
      expect(faults).toContain(`work.things ${fault}`)
    }
  })
})
