import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { operation } from '../../src/db/operation.ts'
import { sql } from '../../src/db/sql.ts'
import type { Where } from '../../src/graphql/comparators.ts'
import { setCurrentBus } from '../../src/live/current-bus.ts'
import { PostgresBus } from '../../src/live/postgres-bus.ts'
import { BEGINNING, encodePosition, type Position, positionOf } from '../../src/platform/audit/cursor.ts'
import { type FeedPlace, placeOfNow, readFeed } from '../../src/platform/audit/feed.ts'
import { followFeed } from '../../src/platform/audit/feed-source.ts'
import { auditFeedLag } from '../../src/platform/audit/lag.ts'
import { defineEvent, record } from '../../src/platform/index.ts'
import { type OwnCluster, ownCluster, type TestDatabase } from '../support/database.ts'
import { connect, makeOrg, type Org, openPoolOn } from './audit-world.ts'

const ticked = defineEvent('clock.ticked', { category: 'audit_only', payload: z.strictObject({}) })
const struck = defineEvent('clock.struck', { category: 'audit_only', payload: z.strictObject({}) })

// A cluster of its own: what is still running anywhere in a cluster holds its feeds back.
let cluster: OwnCluster
let database: TestDatabase
let owner: pg.Client
let closePool: () => Promise<void>
let bus: PostgresBus
let org: Org

beforeAll(async () => {
  cluster = await ownCluster()
  database = await cluster.createDatabase()
  owner = await connect(database.ownerUrl)
  closePool = openPoolOn(database, 80)
  bus = new PostgresBus({ url: database.appUrl, log: { info() {}, warn() {}, error() {} } })
  setCurrentBus(bus)
  await bus.ready
})
afterAll(async () => {
  setCurrentBus(undefined)
  await bus?.close()
  await closePool?.()
  await owner?.end()
  await cluster?.remove()
})

let orgs = 0
beforeEach(async () => {
  orgs += 1
  org = await makeOrg(owner, `org-${orgs}`)
})

const following: { return(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const source of following.splice(0)) await source.return()
})

const read = <T>(body: () => Promise<T>) => operation('read', org.scope, body)
const tick = (type = ticked) => operation('write', org.scope, () => record(org.person, type, { payload: {} }))
const page = (from: FeedPlace, first = 100, where: Where | null = null) =>
  read(() => readFeed(org.id, from, first, where))
const start: FeedPlace = { position: BEGINNING }

/** All that is committed, in the order it must be seen. */
async function committed(): Promise<string[]> {
  const { rows } = await owner.query(
    'SELECT id FROM platform.audit_events WHERE org_id = $1 ORDER BY era, xact_id, id',
    [org.id],
  )
  return rows.map(({ id }) => id)
}

function follow(from: FeedPlace, where: Where | null = null): string[] {
  const source = followFeed(org.scope, from, where)
  following.push(source)
  const seen: string[] = []
  void (async () => {
    for await (const { id } of source) seen.push(id)
  })()
  return seen
}

/** Pages on with the cursor of the page before, as a client does, until it has them all. */
async function pageThrough(first: number, isDone: () => boolean): Promise<string[]> {
  const seen: string[] = []
  let cursor = encodePosition(BEGINNING)
  for (let last = false; ; last = isDone()) {
    const { rows, place, caughtUp } = await read(async () =>
      readFeed(org.id, { position: await positionOf(cursor, org.id) }, first, null),
    )
    seen.push(...rows.map(({ id }) => id))
    cursor = encodePosition(place.position)
    if (last && caughtUp) return seen
  }
}

/** A transaction that holds back the feed until it ends. */
async function openTransaction(): Promise<{ end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> }> {
  const client = await connect(database.appUrl)
  await client.query('BEGIN; SELECT pg_current_xact_id()')
  return {
    async end(how) {
      await client.query(how)
      await client.end()
    },
  }
}

describe('the order', () => {
  it('PLAT-17 shows every row once and in order under 50 writers and one long transaction', async () => {
    const followed = follow(start)
    let done = false
    const paged = pageThrough(7, () => done)

    const long = operation('write', org.scope, async () => {
      await record(org.person, struck, { payload: {} })
      await sql`SELECT pg_sleep(5)`
      await record(org.person, struck, { payload: {} })
    })
    const until = Date.now() + 5_500
    const writer = async () => {
      while (Date.now() < until) {
        const writing = operation('write', org.scope, async () => {
          await record(org.person, ticked, { payload: {} })
          await sql`SELECT pg_sleep(${Math.random() ** 3 * 0.4})`
          if (Math.random() < 0.3) await record(org.person, ticked, { payload: {} })
          if (Math.random() < 0.1) throw new Error('given up')
        })
        await writing.catch((error) => expect(String(error)).toContain('given up'))
      }
    }
    const latecomer = new Promise((resolve) => setTimeout(resolve, 2_000)).then(async () => {
      const before = await committed()
      const seen = follow(await read(placeOfNow))
      return { before, after: await committed(), seen }
    })
    await Promise.all([long, ...Array.from({ length: 50 }, writer)])
    done = true

    const all = await committed()
    expect(all.length).toBeGreaterThan(100)
    await vi.waitFor(() => expect(followed.length).toBeGreaterThanOrEqual(all.length), { timeout: 10_000 })
    expect(followed).toEqual(all)
    expect(await paged).toEqual(all)

    // Whoever came in the middle got all that was committed from then on, the long transaction's rows too.
    const { before, after, seen } = await latecomer
    const due = all.filter((id) => !after.includes(id))
    await vi.waitFor(() => expect(seen).toEqual(expect.arrayContaining(due)), { timeout: 10_000 })
    expect(seen).toEqual(all.filter((id) => seen.includes(id)))
    expect(seen.filter((id) => before.includes(id))).toEqual([])
  })

  it('PLAT-18 goes on behind old cursors when transaction ids begin anew', async () => {
    await tick()
    const before = await page(start)
    const restored = await owner.query(
      `INSERT INTO platform.audit_events (org_id, era, xact_id, category, event_type, actor_kind)
       SELECT $1, 1, (10 ^ 12)::bigint::text::xid8, 'audit_only', 'clock.struck', 'system' FROM generate_series(1, 3) RETURNING id`,
      [org.id],
    )
    const hidden = await tick()
    expect(await page(before.place)).toMatchObject({ rows: [{ id: hidden }], caughtUp: false })

    const [{ era }] = (await operation(
      'sweep',
      {},
      () => sql<{ era: number }>`SELECT platform.maint_audit_era() AS era`,
    )) as [{ era: number }]
    expect(era).toBe(2)
    const after = await tick()
    const went = await page(before.place)
    const ids = restored.rows.map(({ id }) => id).sort()
    expect(went.rows.map(({ id }) => id)).toEqual([hidden, ...ids, after])
    expect(went).toMatchObject({ caughtUp: true })
    const cursorOfRestored = encodePosition(went.rows[3]!)
    const on = await read(async () =>
      readFeed(org.id, { position: await positionOf(cursorOfRestored, org.id) }, 10, null),
    )
    expect(on.rows.map(({ id }) => id)).toEqual([after])
    expect((await page(start)).rows).toHaveLength(6)
  })
})

describe('what is hidden', () => {
  it('PLAT-19 shows a row that an older transaction hid, though nobody is told when that one ends', async () => {
    const seen = follow(start)
    const first = await tick()
    await vi.waitFor(() => expect(seen).toEqual([first]), 10_000)

    const older = await openTransaction()
    const hidden = await tick()
    await vi.waitFor(() => expect(auditFeedLag()).toBeGreaterThan(0), 10_000)
    expect(await page(start)).toMatchObject({ caughtUp: false, hiddenSince: expect.any(Date) })
    expect(seen).toEqual([first])

    await older.end('ROLLBACK')
    // The fallback for lost hints would come after 5 s.
    await vi.waitFor(() => expect(seen).toEqual([first, hidden]), { timeout: 4_000, interval: 20 })
    await vi.waitFor(() => expect(auditFeedLag()).toBe(0), 10_000)
    expect(await page(start)).toMatchObject({ caughtUp: true, hiddenSince: null })
  })

  it('PLAT-17 begins at now: not with what was committed before and merely hidden', async () => {
    const older = await openTransaction()
    await tick()
    const seen = follow(await read(placeOfNow))
    const next = await tick()
    expect(seen).toEqual([])
    await older.end('COMMIT')
    await vi.waitFor(() => expect(seen).toEqual([next]), { timeout: 4_000 })
  })

  it('PLAT-19 forgets a reader that leaves while it lags', async () => {
    const older = await openTransaction()
    follow(start)
    await tick()
    await vi.waitFor(() => expect(auditFeedLag()).toBeGreaterThan(0), 10_000)
    await following.pop()!.return()
    await vi.waitFor(() => expect(auditFeedLag()).toBe(0), 10_000)
    await older.end('ROLLBACK')
  })
})

describe('cursors', () => {
  it('PLAT-17 refuses a cursor that was never handed out here', async () => {
    await tick()
    const [row] = (await page(start)).rows as [Position]
    const strange = await makeOrg(owner, `strange-${orgs}`)
    await operation('write', strange.scope, () => record(strange.person, ticked, { payload: {} }))
    const [foreign] = (await operation('read', strange.scope, () => readFeed(strange.id, start, 1, null))).rows as [
      Position,
    ]

    const encoded = encodePosition(row)
    expect(await read(() => positionOf(encoded, org.id))).toEqual(row)
    for (const forged of [
      '',
      'x',
      `${encoded}=`,
      `${encoded} `,
      encodePosition(foreign),
      encodePosition({ ...row, era: row.era + 1 }),
      encodePosition({ ...row, xact: String(BigInt(row.xact) - 1n) }),
      encodePosition({ ...row, id: foreign.id }),
      encodePosition({ ...row, xact: '9'.repeat(19) }),
      encodePosition({ ...row, xact: `0${row.xact}` }),
      Buffer.from(`${row.era}.${row.xact}.${row.id}\n`).toString('base64url'),
    ]) {
      await expect(
        read(() => positionOf(forged, org.id)),
        forged,
      ).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
  })
})

describe('filters', () => {
  it('PLAT-20 passes over what does not match, in bounded steps', async () => {
    await tick(struck)
    await owner.query(
      `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind)
       SELECT $1, 'audit_only', 'clock.ticked', 'system' FROM generate_series(1, 10100)`,
      [org.id],
    )
    const last = await tick(struck)
    const where = { eventType: 'clock.struck' }
    const first = await page(start, 10, where)
    expect(first).toMatchObject({ rows: [{}], hasMore: true, caughtUp: false })
    const rest = await page({ position: first.place.position }, 10, where)
    expect(rest).toMatchObject({ rows: [{ id: last }], hasMore: false, caughtUp: true })

    const seen = follow(first.place, where)
    await vi.waitFor(() => expect(seen).toEqual([last]), 10_000)
    await tick(ticked)
    const next = await tick(struck)
    await vi.waitFor(() => expect(seen).toEqual([last, next]), 10_000)
  })

  it('PLAT-17 says whether a page was the last', async () => {
    for (let i = 0; i < 4; i++) await tick()
    const two = await page(start, 2)
    expect(two).toMatchObject({ rows: [{}, {}], hasMore: true, caughtUp: false })
    const four = await page({ position: two.place.position }, 2)
    expect(four).toMatchObject({ rows: [{}, {}], hasMore: false, caughtUp: true })
    expect(await page(four.place, 2)).toMatchObject({ rows: [], place: four.place, caughtUp: true })
  })
})
