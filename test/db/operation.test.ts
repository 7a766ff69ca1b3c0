import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { currentOperation, operation } from '../../src/db/operation.ts'
import { closePool, openPool, poolUse } from '../../src/db/pool.ts'
import { prisma } from '../../src/db/prisma.ts'
import { sql, sqlAlone, sqlAs, sqlOne } from '../../src/db/sql.ts'
import { fromDatabase } from '../../src/graphql/database-errors.ts'
import { newId } from '../../src/lib/type-id.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let owner: pg.Client
let superuser: pg.Client
const [a, b] = [newId(), newId()]

beforeAll(async () => {
  database = await createDatabase()
  owner = new pg.Client({ connectionString: database.ownerUrl })
  superuser = new pg.Client({ connectionString: database.superuserUrl })
  await Promise.all([owner.connect(), superuser.connect()])
  await owner.query(
    `INSERT INTO identity.orgs (id, slug, name, api_version) VALUES ($1, 'org-a', 'A', '2026-01-01'), ($2, 'org-b', 'B', '2026-01-01')`,
    [a, b],
  )
})
afterAll(async () => {
  await Promise.all([owner.end(), superuser.end()])
  await database.drop()
})

const open = (size: number, wait = 5_000) =>
  openPool({ url: database.appUrl, size, wait, statementTimeout: 15_000, prepared: true })
const orgsSeen = async () => (await sql<{ slug: string }>`SELECT slug FROM identity.orgs`).map(({ slug }) => slug)

const alive = async (pid: number) =>
  (await superuser.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid])).rows.length > 0

/** A space made through Prisma, so that its own transaction handling is part of what is tested. */
const makeSpace = (orgId: string, slug: string) => prisma.space.create({ data: { orgId, slug, name: slug } })
const spaces = async () =>
  (await owner.query('SELECT slug FROM rooms.spaces ORDER BY slug')).rows.map(({ slug }) => slug)

describe('on a pool of one connection', () => {
  beforeEach(() => open(1))
  afterEach(async () => {
    await closePool()
    await owner.query('DELETE FROM rooms.spaces')
  })

  it('PLAT-7 never shows one org to the next, whether operations end well or abort', async () => {
    for (let round = 0; round < 60; round++) {
      const [orgId, slug] = round % 2 ? [a, 'org-a'] : [b, 'org-b']
      const outcome = operation(round % 3 ? 'read' : 'write', { orgId }, async () => {
        expect(await orgsSeen()).toEqual([slug])
        if (round % 5 === 0) throw new Error('abort')
        if (round % 7 === 0) await sql`SELECT 1 / 0`
      })
      await (round % 5 === 0 || round % 7 === 0 ? expect(outcome).rejects.toThrow() : outcome)
      expect(await operation('read', {}, orgsSeen)).toEqual([])
    }
    expect(poolUse()).toMatchObject({ total: 1, waiting: 0 })
  })

  it('PLAT-4 refuses a statement outside an operation, and one after its end', async () => {
    await expect(prisma.space.findMany()).rejects.toThrow(/outside an operation/)
    let late: (() => Promise<unknown>) | undefined
    await operation('read', { orgId: a }, async () => {
      const running = currentOperation()
      late = () => running.query({ text: 'SELECT 1' })
      await sql`SELECT 1`
    })
    await expect(late?.()).rejects.toThrow(/after the end/)
  })

  it('PLAT-4 lets operations before and across orgs call their functions and nothing else', async () => {
    await operation('preauth', {}, () => sql`SELECT * FROM identity.preauth_org_by_slug(${'org-a'})`)
    await operation('sweep', {}, () => sql`SELECT identity.maint_prune_identity(1)`)
    for (const kind of ['preauth', 'sweep'] as const) {
      await expect(operation(kind, {}, orgsSeen)).rejects.toThrow(/of no (preauth|sweep) operation/)
      await expect(operation(kind, { orgId: a }, () => prisma.space.findMany())).rejects.toThrow(/operation/)
    }
    await expect(operation('preauth', {}, () => sql`SELECT identity.maint_prune_identity(1)`)).rejects.toThrow()
  })

  it('PLAT-4, PLAT-7 does one statement alone in one trip, and leaves a clean connection when it fails', async () => {
    const alone = sqlAlone('preauth', {})
    for (let round = 0; round < 20; round++) {
      const [org, none] = await Promise.all([
        alone<{ status: string }>`SELECT status FROM identity.preauth_org_by_slug(${'org-a'})`,
        alone`SELECT status FROM identity.preauth_org_by_slug(${'no-such-org'})`,
      ])
      expect([org, none]).toEqual([[{ status: 'active' }], []])
      await expect(alone`SELECT 1 / 0 FROM identity.preauth_org_by_slug(${'org-a'})`).rejects.toMatchObject({
        code: '22012',
      })
    }
    await expect(alone`SELECT slug FROM identity.orgs`).rejects.toThrow(/of no preauth operation/)
    expect(poolUse()).toMatchObject({ waiting: 0, idle: poolUse().total })
  })

  it('PLAT-4 costs no connection when nothing is read', async () => {
    await operation('read', { orgId: a }, async () => 1)
    expect(poolUse().total).toBe(0)
  })

  it('PLAT-5 reads one snapshot and writes nothing', async () => {
    await operation('read', { orgId: a }, async () => {
      const before = await sqlOne<{ n: string }>`SELECT count(*) AS n FROM rooms.spaces`
      await owner.query(`INSERT INTO rooms.spaces (org_id, slug, name) VALUES ($1, 'later', 'later')`, [a])
      expect(await sqlOne`SELECT count(*) AS n FROM rooms.spaces`).toEqual(before)
    })
    await expect(operation('read', { orgId: a }, () => makeSpace(a, 'x'))).rejects.toMatchObject({ code: '25006' })
  })

  it('PLAT-6 turns nested Prisma transactions into savepoints: an inner rollback keeps the outer work', async () => {
    await operation('write', { orgId: a }, async () => {
      await makeSpace(a, 'outer')
      const inner = prisma.$transaction(async (transaction) => {
        await transaction.space.create({ data: { orgId: a, slug: 'inner', name: 'inner' } })
        throw new Error('inner')
      })
      await expect(inner).rejects.toThrow('inner')
      await expect(currentOperation().savepoint(() => makeSpace(a, 'outer'))).rejects.toThrow()
      await makeSpace(a, 'last')
    })
    expect(await spaces()).toEqual(['last', 'outer'])
  })

  it('PLAT-6 does not report a commit when a failed statement was swallowed', async () => {
    const swallowed = operation('write', { orgId: a }, async () => {
      await makeSpace(a, 'kept')
      await makeSpace(a, 'kept').catch(() => {})
    })
    await expect(swallowed).rejects.toMatchObject({ code: '23505' })
    expect(await spaces()).toEqual([])
  })

  it('PLAT-3 can neither read nor write the row of another org', async () => {
    const written = operation('write', { orgId: a }, () => makeSpace(b, 'foreign'))
    await expect(written).rejects.toMatchObject({ code: '42501' })
    await operation('write', { orgId: b }, () => makeSpace(b, 'theirs'))
    expect(await operation('read', { orgId: a }, () => prisma.space.findMany())).toEqual([])
  })

  it('PLAT-6 runs the field again when COMMIT meets 40001, with one effect', async () => {
    await owner.query(`
      CREATE SEQUENCE rooms.injected;
      GRANT USAGE ON SEQUENCE rooms.injected TO moothall_app;
      CREATE FUNCTION rooms.inject() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN IF nextval('rooms.injected') <= 2 THEN RAISE SQLSTATE '40001'; END IF; RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER inject AFTER INSERT ON rooms.spaces DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION rooms.inject()`)
    let runs = 0
    const write = () => operation('write', { orgId: a }, () => makeSpace(a, `run-${++runs}`))
    try {
      await write()
      expect({ runs, spaces: await spaces() }).toEqual({ runs: 3, spaces: ['run-3'] })

      await owner.query(`SELECT setval('rooms.injected', 1, false); DELETE FROM rooms.spaces`)
      await owner.query(`CREATE OR REPLACE FUNCTION rooms.inject() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE SQLSTATE '40001'; END $$`)
      const failure = await write().catch((error: unknown) => error)
      expect(fromDatabase(failure)).toMatchObject({ name: 'ConflictError' })
      expect(runs).toBe(6)
      expect(await spaces()).toEqual([])
    } finally {
      await owner.query('DROP TRIGGER inject ON rooms.spaces; DROP FUNCTION rooms.inject; DROP SEQUENCE rooms.injected')
    }
  })

  it('PLAT-9 ends a statement that takes too long, and the connection serves the next', async () => {
    await closePool()
    openPool({ url: database.appUrl, size: 1, wait: 5_000, statementTimeout: 50, prepared: true })
    const slow = await operation('read', {}, () => sql`SELECT pg_sleep(5)`).catch((error: unknown) => error)
    expect(fromDatabase(slow)).toMatchObject({ extensions: { code: 'TIMEOUT' } })
    expect(await operation('read', { orgId: a }, orgsSeen)).toEqual(['org-a'])
  })

  it('PLAT-7 replaces a connection that broke inside an operation', async () => {
    const broken = operation('read', { orgId: a }, async () => {
      const { pid } = await sqlOne<{ pid: number }>`SELECT pg_backend_pid() AS pid`
      await superuser.query('SELECT pg_terminate_backend($1)', [pid])
      await vi.waitFor(() => expect(alive(pid)).resolves.toBe(false), 10_000)
      await sql`SELECT 1`
    })
    await expect(broken).rejects.toThrow()
    expect(await operation('read', { orgId: b }, orgsSeen)).toEqual(['org-b'])
  })

  it('ROOM-173 reads as a viewer for one statement only, while siblings read at the same time', async () => {
    const viewer = newId()
    const who = () => sqlOne<{ id: string }>`SELECT coalesce(current_setting('moothall.user_id', true), '') AS id`
    const asViewer = () => sqlAs<{ id: string }>(viewer, `SELECT current_setting('moothall.user_id') AS id`, [])
    await operation('read', { orgId: a }, async () => {
      const answers = await Promise.all([who(), asViewer(), who(), asViewer(), who()])
      expect(answers.flat().map(({ id }) => id)).toEqual(['', viewer, '', viewer, ''])
    })
    await expect(operation('write', { orgId: a }, asViewer)).rejects.toThrow(TypeError)
    await expect(operation('read', { orgId: a, userId: newId() }, asViewer)).rejects.toThrow(TypeError)
  })
})

describe('when connections run out', () => {
  afterEach(() => closePool())

  it('PLAT-8 answers OVERLOADED after the wait, never a transaction timeout', async () => {
    open(1, 250) // the first connection, too, must come within it
    await operation('read', { orgId: a }, async () => {
      await sql`SELECT 1`
      const second = await operation('read', { orgId: b }, orgsSeen).catch((error: unknown) => error)
      expect(second).toMatchObject({ name: 'PoolExhaustedError', inUse: 1 })
      expect(fromDatabase(second)).toMatchObject({ extensions: { code: 'OVERLOADED' } })
    })
    expect(await operation('read', { orgId: b }, orgsSeen)).toEqual(['org-b'])
  })

  it('PLAT-7 leaks nothing when the end of a wait races a release, 1,000 times', async () => {
    open(1, 12)
    let waited = 0
    const reads = (orgId: string) => operation('read', { orgId }, orgsSeen).catch((error: unknown) => error)
    for (let run = 0; run < 1_000; run++) {
      const [first, second] = run % 2 ? [a, b] : [b, a]
      const hold = operation('read', { orgId: first }, () => sql`SELECT pg_sleep(${0.009 + (run % 7) * 0.001})`)
      const [held, outcome] = await Promise.all([hold.catch((error: unknown) => error), reads(second)])
      expect(held instanceof Error ? held.name : 'held').toMatch(/^(held|PoolExhaustedError)$/)
      if (Array.isArray(outcome)) expect(outcome).toEqual([second === a ? 'org-a' : 'org-b'])
      else expect(outcome).toMatchObject({ name: 'PoolExhaustedError' })
      if (!Array.isArray(outcome)) waited++
    }
    expect(waited).toBeGreaterThan(50)
    expect(waited).toBeLessThan(950)
    await closePool()
    open(1)
    expect(await operation('read', {}, orgsSeen)).toEqual([])
    const stuck = await owner.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND usename = 'moothall_app' AND state <> 'idle'`,
    )
    expect(stuck.rows).toEqual([{ n: 0 }])
  }, 60_000)
})
