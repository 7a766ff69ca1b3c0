import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Hint } from '../../src/live/hints.ts'
import { PostgresBus } from '../../src/live/postgres-bus.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

const ORG = '0190a000-0000-7000-8000-000000000001'
const OTHER_ORG = '0190a000-0000-7000-8000-000000000002'
const ROOM = '0190a000-0000-7000-8000-000000000003'

let database: TestDatabase
let writer: pg.Client
let bus: PostgresBus
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }

const notify = (channel: string, payload: string) => writer.query('SELECT pg_notify($1, $2)', [channel, payload])
const listenerPid = async () => {
  const { rows } = await writer.query(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'moothall listener'`,
  )
  return rows[0]?.pid as number
}

beforeAll(async () => {
  database = await createDatabase()
  writer = new pg.Client({ connectionString: database.superuserUrl })
  await writer.connect()
})
afterAll(async () => {
  await writer.end()
  await database.drop()
})
beforeEach(() => vi.clearAllMocks())
afterEach(() => bus?.close())

async function openBus(url = database.appUrl): Promise<PostgresBus> {
  bus = new PostgresBus({ url, log })
  await bus.ready
  return bus
}

/** Milliseconds until the bus no longer believes in its connection, and until it does again. */
async function observeLoss(act: () => unknown): Promise<{ found: number; listening: () => Promise<void> }> {
  const since = performance.now()
  await act()
  await vi.waitUntil(() => !bus.confirmed, { timeout: 5_000, interval: 5 })
  const found = performance.now() - since
  return { found, listening: () => vi.waitUntil(() => bus.confirmed, { timeout: 10_000, interval: 5 }) as never }
}

describe('hints', () => {
  it('PLAT-25 brings each notification to those who follow its topic, and to nobody else', async () => {
    await openBus()
    const heard: [string, Hint][] = []
    bus.subscribe({ channel: 'audit', orgId: ORG }, (hint) => heard.push(['audit', hint]))
    bus.subscribe({ channel: 'audit', orgId: OTHER_ORG }, (hint) => heard.push(['other', hint]))
    bus.subscribe({ channel: 'rooms', orgId: ORG, roomId: ROOM }, (hint) => heard.push(['room', hint]))
    bus.subscribe({ channel: 'identity' }, (hint) => heard.push(['identity', hint]))

    await notify('moothall_audit', ORG)
    await writer.query('SELECT rooms.notify_room($1, $2, true)', [ORG, ROOM])
    await notify('moothall_rooms', `{"v":1,"o":"${OTHER_ORG}","r":"${ROOM}"}`)
    await writer.query(`SELECT platform.notify_identity('session', $1, 'revoked', $2)`, [ROOM, ORG])

    await vi.waitUntil(() => heard.length >= 3, 10_000)
    expect(heard).toEqual([
      ['audit', { channel: 'audit', orgId: ORG }],
      ['room', { channel: 'rooms', orgId: ORG, roomId: ROOM, presence: true }],
      ['identity', { channel: 'identity', type: 'session', orgId: ORG, id: ROOM, state: 'revoked' }],
    ])
  })

  it('PLAT-27 ignores and counts payloads it does not understand', async () => {
    await openBus()
    const heard: unknown[] = []
    bus.subscribe({ channel: 'identity' }, (hint) => heard.push(hint))
    bus.subscribe({ channel: 'rooms', orgId: ORG, roomId: ROOM }, (hint) => heard.push(hint))

    for (const payload of ['', '{', 'null', '[]', '{"v":2,"o":1}', `{"v":1,"o":"${ORG}"}`]) {
      await notify('moothall_rooms', payload)
    }
    await notify('moothall_audit', 'no org')
    await notify('moothall_identity', `{"v":1,"t":"planet","id":"${ORG}","s":"gone"}`)
    await notify('moothall_identity', '{"v":1,"t":"ping","from":"another process","n":1}')
    await notify('moothall_identity', `{"v":1,"t":"user","id":"${ORG}","s":"changed"}`)

    await vi.waitUntil(() => heard.length > 0, 10_000)
    expect(heard).toEqual([{ channel: 'identity', type: 'user', orgId: null, id: ORG, state: 'changed' }])
    expect(bus.figures.malformed).toBe(8)
  })

  it('PLAT-25 hints only at what was committed', async () => {
    await openBus()
    const heard: Hint[] = []
    bus.subscribe({ channel: 'audit', orgId: ORG }, (hint) => heard.push(hint))
    bus.subscribe({ channel: 'audit', orgId: OTHER_ORG }, (hint) => heard.push(hint))

    await writer.query('BEGIN')
    await notify('moothall_audit', ORG)
    await writer.query('ROLLBACK')
    await notify('moothall_audit', OTHER_ORG)

    await vi.waitUntil(() => heard.length > 0, 10_000)
    expect(heard).toEqual([{ channel: 'audit', orgId: OTHER_ORG }])
  })

  it('keeps what one follower throws from the others', async () => {
    await openBus()
    let heard = 0
    const topic = { channel: 'audit', orgId: ORG } as const
    bus.subscribe(topic, () => {
      throw new Error('follower')
    })
    bus.subscribe(topic, () => {
      heard += 1
    })

    await notify('moothall_audit', ORG)

    await vi.waitUntil(() => heard === 1, 10_000)
    expect(log.error).toHaveBeenCalledTimes(1)
  })

  it('forgets a follower at once, also one that ends another while hints are handed out', async () => {
    await openBus()
    const heard: string[] = []
    const topic = { channel: 'audit', orgId: ORG } as const
    bus.subscribe(topic, () => {
      heard.push('first')
      end()
    })
    const end = bus.subscribe(topic, () => heard.push('second'))
    bus.subscribe(topic, () => heard.push('third'))

    await notify('moothall_audit', ORG)

    await vi.waitUntil(() => heard.includes('third'), 10_000)
    expect(heard).toEqual(['first', 'third'])
    expect(bus.figures.subscriptions).toBe(2)
  })

  it('PLAT-4 calls back outside of any operation, wherever the subscription was made', async () => {
    const store = new AsyncLocalStorage<string>()
    const stores = await store.run('somebody', async () => {
      await openBus()
      const stores: unknown[] = []
      bus.subscribe({ channel: 'audit', orgId: ORG }, () => stores.push(store.getStore()))
      bus.onDoubt(() => stores.push(store.getStore()))
      await notify('moothall_audit', ORG)
      await writer.query('SELECT pg_terminate_backend($1)', [await listenerPid()])
      await vi.waitUntil(() => stores.length >= 2, { timeout: 5_000 })
      return stores
    })
    expect(new Set(stores)).toEqual(new Set([undefined]))
  })
})

describe('the LISTEN connection', () => {
  it('PLAT-28 warns when the database holds back half of what notifications it can, once until it has recovered', async () => {
    const warned = () => log.warn.mock.calls.filter(([, message]) => String(message).includes('filling up'))
    // What the function says is found before the server's own.
    const full = (usage: number) =>
      writer.query(
        `CREATE OR REPLACE FUNCTION full_queue.pg_notification_queue_usage() RETURNS float8 LANGUAGE sql AS 'SELECT ${usage}::float8'`,
      )
    await writer.query('CREATE SCHEMA full_queue; GRANT USAGE ON SCHEMA full_queue TO PUBLIC')
    await writer.query(`ALTER DATABASE ${database.name} SET search_path = full_queue, pg_catalog`)
    try {
      await full(0.5)
      await openBus()
      await vi.waitUntil(() => bus.figures.queueUsage === 0.5, { timeout: 5_000 })
      expect(warned()).toEqual([])
      for (const round of [1, 2]) {
        await full(0.51)
        await vi.waitUntil(() => warned().length === round, { timeout: 5_000 })
        await full(0.6)
        await vi.waitUntil(() => bus.figures.queueUsage === 0.6, { timeout: 5_000 })
        await full(0.1)
        await vi.waitUntil(() => bus.figures.queueUsage === 0.1, { timeout: 5_000 })
        expect(warned()).toHaveLength(round)
      }
    } finally {
      await writer.query(`ALTER DATABASE ${database.name} RESET search_path`)
      await writer.query('DROP SCHEMA full_queue CASCADE')
    }
  })

  let proxy: TcpProxy
  beforeEach(async () => {
    proxy = await tcpProxy(database.appUrl)
  })
  afterEach(() => proxy.close())

  it('PLAT-28 finds a terminated backend, a reset and a half-open connection within a second, and listens again', async () => {
    await openBus(proxy.through(database.appUrl))
    let doubts = 0
    bus.onDoubt(() => {
      doubts += 1
    })

    const terminated = await observeLoss(async () =>
      writer.query('SELECT pg_terminate_backend($1)', [await listenerPid()]),
    )
    await terminated.listening()
    const reset = await observeLoss(() => proxy.reset())
    await reset.listening()
    const halfOpen = await observeLoss(() => proxy.freeze())
    const before = doubts
    await vi.waitUntil(() => doubts >= before + 2, { timeout: 3_000, interval: 20 })
    expect(bus.confirmed).toBe(false)
    expect(Date.now() - Number(bus.unconfirmedSince)).toBeGreaterThan(500)
    proxy.thaw()
    await halfOpen.listening()

    expect(terminated.found).toBeLessThan(500)
    expect(reset.found).toBeLessThan(500)
    expect(halfOpen.found).toBeLessThan(1_000)
    expect(bus.unconfirmedSince).toBeNull()
  })

  it('PLAT-28 says after a loss that hints may have been missed, once LISTEN is in force again', async () => {
    await openBus(proxy.through(database.appUrl))
    const calls: string[] = []
    bus.subscribe({ channel: 'audit', orgId: ORG }, () => calls.push('hint'))

    const { listening } = await observeLoss(() => proxy.freeze())
    await notify('moothall_audit', ORG)
    bus.onDoubt(() => calls.push('doubt'))
    proxy.reset()
    proxy.thaw()
    await listening()
    expect(calls.length).toBeGreaterThan(0)
    expect(new Set(calls)).toEqual(new Set(['doubt']))

    await notify('moothall_audit', ORG)
    await vi.waitUntil(() => calls.includes('hint'), 10_000)
  })

  it('PLAT-27 never sits in a transaction and uses one connection', async () => {
    await openBus()
    const states = new Set<string>()
    for (let look = 0; look < 20; look++) {
      const { rows } = await writer.query(
        `SELECT state, count(*) OVER ()::int AS listeners FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'moothall listener'`,
      )
      expect(rows[0].listeners).toBe(1)
      states.add(rows[0].state)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(states.has('idle in transaction')).toBe(false)
  })

  it('is not fooled by pings of another process', async () => {
    await openBus(proxy.through(database.appUrl))
    const other = setInterval(
      () => void notify('moothall_identity', '{"v":1,"t":"ping","from":"another process","n":1}'),
      100,
    )
    // An own ping that goes nowhere: LISTEN is gone, everything else works, as behind a transaction pooler.
    const { found, listening } = await observeLoss(() => {
      const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
      const mute = function (this: pg.Client, ...[text, values]: [string, string[]]) {
        const muted = values?.[0] === 'moothall_identity' && values[1]?.includes('"ping"') && this !== writer
        return query.call(this, muted ? 'SELECT 0 AS usage' : text, muted ? [] : values)
      }
      vi.spyOn(pg.Client.prototype, 'query').mockImplementation(mute as never)
    })
    vi.restoreAllMocks()
    await listening()
    clearInterval(other)
    expect(found).toBeLessThan(1_800)
  })

  it('leaves nothing behind when closed', async () => {
    await openBus(proxy.through(database.appUrl))
    await bus.close()
    await vi.waitUntil(() => proxy.connections === 0, 10_000)
    expect(bus.figures.subscriptions).toBe(0)
  })
})
