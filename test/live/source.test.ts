import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { PostgresBus } from '../../src/live/postgres-bus.ts'
import { sourceOf } from '../../src/live/source.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

/** A log that grows, its reader, and a way to call. */
function world({ pollEvery }: { pollEvery?: number } = {}) {
  const log: number[] = []
  const state = { attached: 0, reads: 0, wake: () => {}, behind: false, gate: Promise.resolve() }
  let cursor = 0
  const source = sourceOf<number>({
    attach(wake) {
      state.attached += 1
      state.wake = wake
      return () => {
        state.attached -= 1
      }
    },
    async read() {
      state.reads += 1
      await state.gate
      const items = log.slice(cursor)
      cursor = log.length
      return { items, behind: state.behind }
    },
    ...(pollEvery && { pollEvery }),
  })
  return { log, state, source }
}

describe('a source that reads forward', () => {
  it('PLAT-30 attaches with the first pull and releases at once when ended while parked', async () => {
    const { state, source } = world()
    expect(state.attached).toBe(0)
    const parked = source.next()
    await vi.waitUntil(() => state.reads >= 1, 10_000)
    expect(state.attached).toBe(1)

    void source.return()
    await turn()

    expect(state.attached).toBe(0)
    expect(await parked).toEqual({ done: true, value: undefined })
  })

  it('PLAT-30 releases at once also with a read in flight, and never attaches when ended before the first pull', async () => {
    const { state, source } = world()
    state.gate = new Promise(() => {})
    void source.next()
    await vi.waitUntil(() => state.reads >= 1, 10_000)
    void source.return()
    await turn()
    expect(state.attached).toBe(0)

    const unstarted = world()
    await unstarted.source.return()
    expect(await unstarted.source.next()).toEqual({ done: true, value: undefined })
    expect(unstarted.state.attached).toBe(0)
    expect(unstarted.state.reads).toBe(0)
  })

  it('takes many calls while it is busy for one and skips nothing', async () => {
    const { log, state, source } = world()
    log.push(1)
    expect((await source.next()).value).toBe(1)
    const release = Promise.withResolvers<void>()
    state.gate = release.promise
    const next = source.next()
    await vi.waitUntil(() => state.reads === 2, 10_000)
    log.push(2, 3)
    for (let call = 0; call < 100; call++) state.wake()
    release.resolve()

    expect([(await next).value, (await source.next()).value]).toEqual([2, 3])
    void source.next()
    await turn()
    await turn()
    expect(state.reads).toBeLessThanOrEqual(4)
    await source.return()
  })

  it('reads without being called, so that a lost NOTIFY only delays', async () => {
    const { log, state, source } = world({ pollEvery: 20 })
    const next = source.next()
    await vi.waitUntil(() => state.reads >= 1, 10_000)
    log.push(7)
    expect((await next).value).toBe(7)
    await source.return()
  })

  it('PLAT-19 looks again soon while a neighbour hides what was called for', async () => {
    const { log, state, source } = world()
    state.behind = true
    const started = performance.now()
    const next = source.next()
    await vi.waitUntil(() => state.reads === 4, 10_000)
    const looking = performance.now() - started
    log.push(1)
    state.behind = false
    expect((await next).value).toBe(1)
    expect(looking).toBeGreaterThan(300) // 50 + 100 + 200
    expect(looking).toBeLessThan(2_000)
    await source.return()
  })

  it('ends with the error of a failed read and releases', async () => {
    const { state, source } = world()
    state.gate = Promise.reject(new Error('read'))
    await expect(source.next()).rejects.toThrow('read')
    expect(state.attached).toBe(0)
    expect((await source.next()).done).toBe(true)
  })
})

describe('a source over the bus', () => {
  let database: TestDatabase
  let writer: pg.Client
  let bus: PostgresBus
  beforeAll(async () => {
    database = await createDatabase()
    writer = new pg.Client({ connectionString: database.ownerUrl })
    await writer.connect()
    await writer.query('CREATE TABLE public.facts (n int)')
    bus = new PostgresBus({ url: database.appUrl, log: { info() {}, warn() {}, error() {} } })
    await bus.ready
  })
  afterAll(async () => {
    await bus.close()
    await writer.end()
    await database.drop()
  })

  it('PLAT-27 wakes once for five equal NOTIFYs of a transaction and loses nothing', async () => {
    const org = '0190a000-0000-7000-8000-000000000001'
    let calls = 0
    let cursor = 0
    const source = sourceOf<number>({
      attach: (wake) =>
        bus.subscribe({ channel: 'audit', orgId: org }, () => {
          calls += 1
          wake()
        }),
      async read() {
        const { rows } = await writer.query('SELECT n FROM public.facts WHERE n > $1 ORDER BY n', [cursor])
        cursor = rows.at(-1)?.n ?? cursor
        return { items: rows.map(({ n }) => n as number) }
      },
      pollEvery: 600_000,
    })
    const seen: number[] = []
    const done = (async () => {
      for await (const n of source) if (seen.push(n) === 100) return
    })()
    await vi.waitUntil(() => bus.figures.subscriptions === 1, 10_000)

    for (let transaction = 0; transaction < 20; transaction++) {
      await writer.query('BEGIN')
      for (let row = 1; row <= 5; row++) {
        await writer.query('INSERT INTO public.facts VALUES ($1)', [transaction * 5 + row])
        await writer.query(`SELECT pg_notify('moothall_audit', $1)`, [org])
      }
      await writer.query('COMMIT')
    }

    await done
    expect(seen).toEqual(Array.from({ length: 100 }, (_, at) => at + 1))
    await vi.waitUntil(() => calls === 20, 10_000)
    expect(bus.figures.subscriptions).toBe(0)
  })
})
