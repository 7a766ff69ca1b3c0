import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { doctor } from '../../src/db/doctor.ts'
import { isolationFaults } from '../../src/db/isolation.ts'
import { MIGRATIONS } from '../support/cluster.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let superuser: pg.Client

beforeAll(async () => {
  database = await createDatabase()
  superuser = new pg.Client({ connectionString: database.superuserUrl })
  await superuser.connect()
})

afterAll(async () => {
  await superuser.end()
  await database.drop()
})

describe('isolation', () => {
  it('PLAT-2 finds no fault with the application role on our own schema', async () => {
    expect(await faultsAt(database.appUrl)).toEqual([])
  })

  it('PLAT-2 refuses the owner, naming what it owns', async () => {
    const faults = await faultsAt(database.ownerUrl)
    expect(faults).toContain('connected as moothall_owner, not as moothall_app')
    expect(faults).toContain(`moothall_owner owns database ${database.name}`)
    expect(faults).toContain('moothall_owner owns schema identity')
    expect(faults).toContain('moothall_owner owns table identity.orgs')
  })

  it('PLAT-2 refuses a superuser', async () => {
    expect(await faultsAt(database.superuserUrl)).toEqual([
      'connected as postgres, not as moothall_app',
      'postgres is a superuser',
      'postgres bypasses row security',
      'postgres may create roles',
      'postgres may create databases',
      'postgres may read the write-ahead log',
    ])
  })

  it.each([
    ['ALTER ROLE moothall_app BYPASSRLS', 'moothall_app bypasses row security'],
    ['ALTER ROLE moothall_app CREATEROLE', 'moothall_app may create roles'],
    ['ALTER ROLE moothall_app REPLICATION', 'moothall_app may read the write-ahead log'],
    ['GRANT moothall_owner TO moothall_app', 'moothall_app is a member of moothall_owner'],
    ['GRANT CREATE ON SCHEMA identity TO moothall_app', 'moothall_app may create in schema identity'],
    ['GRANT CREATE ON SCHEMA public TO PUBLIC', 'moothall_app may create in schema public'],
    ['ALTER TABLE identity.orgs OWNER TO moothall_app', 'moothall_app owns table identity.orgs'],
    ['ALTER FUNCTION platform.new_id() OWNER TO moothall_app', 'moothall_app owns function platform.new_id()'],
    [
      'CREATE TABLE work.things (org_id uuid); GRANT SELECT ON work.things TO moothall_app',
      'work.things has no row security',
    ],
    [
      'CREATE TABLE work.things (org_id uuid); GRANT UPDATE (org_id) ON work.things TO moothall_app',
      'work.things has no row security',
    ],
    [
      `CREATE TABLE work.things (org_id uuid); GRANT DELETE ON work.things TO moothall_app;
       ALTER TABLE work.things ENABLE ROW LEVEL SECURITY;
       CREATE POLICY tight ON work.things AS RESTRICTIVE TO moothall_app USING (true);
       CREATE POLICY other ON work.things TO moothall_owner USING (true)`,
      'work.things has no policy for moothall_app',
    ],
  ])('PLAT-2 sees it after %s', async (sql, fault) => {
    expect(await faultsAfter(sql)).toContain(fault)
  })

  it('PLAT-2 sees a right to create in the database', async () => {
    const sql = `GRANT CREATE ON DATABASE ${database.name} TO moothall_app`
    expect(await faultsAfter(sql)).toEqual(['moothall_app may create in the database'])
  })

  it('PLAT-2 sees row security switched off on any tenant table, and the loss of its last permissive policy', async () => {
    const { rows } = await superuser.query<{ name: string; drop: string }>(
      `SELECT polrelid::regclass::text AS name, string_agg(format('DROP POLICY %I ON %s', polname, polrelid::regclass), ';') AS drop
         FROM pg_policy JOIN pg_attribute ON attrelid = polrelid AND attname = 'org_id'
        WHERE polpermissive GROUP BY polrelid`,
    )
    expect(rows.length).toBeGreaterThan(10)
    for (const { name, drop } of rows) {
      expect(await faultsAfter(`ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`)).toEqual([
        `${name} has no row security`,
      ])
      expect(await faultsAfter(drop)).toEqual([`${name} has no policy for moothall_app`])
    }
  })

  it('PLAT-2 leaves out what the application cannot touch', async () => {
    expect(await faultsAfter('CREATE TABLE work.closed (org_id uuid)')).toEqual([])
  })
})

describe('doctor', () => {
  it('PLAT-2 reports a healthy database', async () => {
    const findings = await doctor({ url: database.appUrl, folder: MIGRATIONS })
    expect(findings.filter((finding) => !finding.ok)).toEqual([])
    expect(findings.map((finding) => finding.check)).toEqual([
      'connection',
      'server version',
      'encoding',
      'character type',
      'time zone',
      'roles',
      'migrations',
      'isolation',
    ])
  })

  it('PLAT-56 names pending migrations and a refusal of the runner', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
    const migrations = async () =>
      (await doctor({ url: database.appUrl, folder })).find((finding) => finding.check === 'migrations')
    try {
      expect(await migrations()).toMatchObject({
        ok: false,
        detail: expect.stringMatching(/^0001_ground is applied, but/),
      })
      await superuser.query('UPDATE platform._prisma_migrations SET rolled_back_at = now()')
      await mkdir(join(folder, '0001_first'))
      await writeFile(join(folder, '0001_first', 'migration.sql'), 'SELECT 1')
      expect(await migrations()).toMatchObject({ ok: false, detail: 'pending: 0001_first' })
    } finally {
      await superuser.query('UPDATE platform._prisma_migrations SET rolled_back_at = NULL')
      await rm(folder, { recursive: true })
    }
  })

  it('WORK-107 reports a database whose letters end with ASCII, and another time zone', async () => {
    const name = `${database.name}_c`
    await superuser.query(`CREATE DATABASE ${name} TEMPLATE template0 LOCALE 'C'; `)
    try {
      await superuser.query(`ALTER DATABASE ${name} SET timezone = 'Asia/Tokyo'`)
      const url = new URL(database.superuserUrl)
      url.pathname = `/${name}`
      const findings = await doctor({ url: url.href, folder: MIGRATIONS })
      expect(findings).toContainEqual({ check: 'character type', ok: false, detail: 'C' })
      expect(findings).toContainEqual({ check: 'time zone', ok: false, detail: 'Asia/Tokyo' })
    } finally {
      await superuser.query(`DROP DATABASE ${name} WITH (FORCE)`)
    }
  })

  it('PLAT-2 reports a refused connection without its address or password', async () => {
    const url = new URL(database.appUrl)
    url.password = 'wrong-password'
    expect(await doctor({ url: url.href, folder: MIGRATIONS })).toEqual([
      { check: 'connection', ok: false, detail: 'refused (28P01)' },
    ])
  })
})

async function faultsAt(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await isolationFaults(client)
  } finally {
    await client.end()
  }
}

/** As the application role, inside the transaction that made the change: roles belong to the whole cluster. */
async function faultsAfter(sql: string): Promise<string[]> {
  await superuser.query(`BEGIN; ${sql}; SET LOCAL ROLE moothall_app`)
  try {
    return await isolationFaults(superuser)
  } finally {
    await superuser.query('ROLLBACK')
  }
}
