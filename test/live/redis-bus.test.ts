import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { currentOperation, operation } from '../../src/db/operation.ts'
import { closePool, openPool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Hint } from '../../src/live/hints.ts'
import { PostgresBus } from '../../src/live/postgres-bus.ts'
import { openRedis } from '../../src/live/redis.ts'
import { RedisBus } from '../../src/live/redis-bus.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { redisVersion, startRedis, type TestRedis } from '../support/redis.ts'

/** One process, as far as hints go. */
type Process = { bus: RedisBus; postgres: PostgresBus }

describe.skipIf(redisVersion === null)('hints over Redis', () => {
  let database: TestDatabase
  let redis: TestRedis
  /** Commits and publishes. */
  let here: Process
  /** Follows. */
  let there: Process
  let listener: pg.Client
  const notified: string[] = []
  const ORG = newId()
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }

  beforeAll(async () => {
    ;[database, redis] = await Promise.all([createDatabase(), startRedis()])
    here = openProcess()
    there = openProcess()
    openPool({
      url: database.appUrl,
      size: 4,
      wait: 5_000,
      statementTimeout: 15_000,
      prepared: true,
      hints: here.bus,
    })
    listener = new pg.Client({ connectionString: database.appUrl })
    await listener.connect()
    listener.on('notification', ({ payload }) => notified.push(payload ?? ''))
    await listener.query('LISTEN moothall_rooms; LISTEN moothall_audit')
    await Promise.all([here, there].flatMap(({ bus, postgres }) => [bus.redisReady, postgres.ready]))
  })
  afterAll(async () => {
    await here?.bus.close()
    await there?.bus.close()
    await closePool()
    await listener?.end()
    await redis?.remove()
    await database?.drop()
  })
  beforeEach(() => {
    notified.length = 0
  })

  function openProcess(): Process {
    const postgres = new PostgresBus({ url: database.appUrl, log })
    return { postgres, bus: new RedisBus({ postgres, redis: openRedis(redis.url, () => {}), log }) }
  }

  /** What a follower hears of a room, once its subscription is in force. */
  async function follow({ bus }: Process, roomId: string): Promise<Hint[]> {
    const heard: Hint[] = []
    bus.subscribe({ channel: 'rooms', orgId: ORG, roomId }, (hint) => heard.push(hint))
    await vi.waitUntil(() => heard.length >= 2, { timeout: 5_000, interval: 5 })
    heard.length = 0
    return heard
  }
  const tell = (roomId: string, presence = false) => sql`SELECT rooms.notify_room(${ORG}, ${roomId}, ${presence})`
  const change = (roomId: string) => operation('write', { orgId: ORG }, () => tell(roomId))
  const arrives = (heard: readonly Hint[], count = 1) =>
    vi.waitUntil(() => heard.length >= count, { timeout: 5_000, interval: 5 })
  const hint = (roomId: string, presence = false) => ({ channel: 'rooms', orgId: ORG, roomId, presence })

  it('PLAT-25 brings what a transaction tells to every process once it has committed, and notifies nothing', async () => {
    const room = newId()
    const [near, far] = [await follow(here, room), await follow(there, room)]
    await operation('write', { orgId: ORG }, async () => {
      await tell(room)
      await tell(room)
      await tell(room, true)
      await sql`SELECT pg_sleep(0.2)`
      expect([near, far]).toEqual([[], []]) // not before it is true
    })
    expect(near).toEqual([hint(room), hint(room, true)])
    await arrives(far, 2)
    expect(far).toEqual([hint(room), hint(room, true)])
    await change(newId()) // its notifications, were there any, would be behind those
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(notified).toEqual([])
    expect(near).toHaveLength(2) // what comes back over Redis is known
  })

  it('PLAT-25 tells nothing of what was rolled back, whole or to a savepoint', async () => {
    const [whole, partly, kept] = [newId(), newId(), newId()]
    const heard = await Promise.all([whole, partly, kept].map((room) => follow(there, room)))
    await operation('write', { orgId: ORG }, async () => {
      await tell(whole)
      throw new Error('no')
    }).catch(() => {})
    await operation('write', { orgId: ORG }, async () => {
      await tell(kept)
      const inner = currentOperation().savepoint(async () => {
        await tell(partly)
        throw new Error('no')
      })
      await inner.catch(() => {})
    })
    await arrives(heard[2]!)
    expect(heard.slice(0, 2)).toEqual([[], []])
  })

  it('PLAT-25 leaves ended sign-ins to NOTIFY, which commits with its change', async () => {
    const identity: Hint[] = []
    there.bus.subscribe({ channel: 'identity' }, (heard) => identity.push(heard))
    const id = newId()
    await operation(
      'write',
      { orgId: ORG },
      () => sql`SELECT platform.notify_identity('session', ${id}, 'revoked', ${ORG})`,
    )
    await arrives(identity)
    expect(identity).toEqual([{ channel: 'identity', type: 'session', orgId: ORG, id, state: 'revoked' }])
  })

  it('PLAT-27 hears of a bulk change by NOTIFY rather than collect without end', async () => {
    const rooms = Array.from({ length: 400 }, () => newId())
    const last = rooms.at(-1)!
    const heard = await follow(there, last)
    await operation('write', { orgId: ORG }, async () => {
      for (const room of rooms) await tell(room)
    })
    await arrives(heard)
    expect(notified.length).toBeGreaterThan(200)
    expect(notified.length).toBeLessThan(400)
  })

  it('PLAT-27 takes no notice of what others write to its channels', async () => {
    const room = newId()
    const heard = await follow(there, room)
    const stranger = new Redis(redis.url)
    for (const message of ['', 'x', '{}', 'null', '[]', '{"channel":"moothall_rooms","payload":"{"}']) {
      await stranger.publish(`moothall:rooms:${ORG}:${room}`, message)
    }
    await stranger.quit()
    await change(room)
    await arrives(heard)
    expect(heard).toEqual([hint(room)])
  })

  it('PLAT-28 notifies while Redis is away, is in doubt until it is back, and takes no restart of itself', async () => {
    const room = newId()
    const heard = await follow(there, room)
    let doubts = 0
    there.bus.onDoubt(() => {
      doubts += 1
    })
    await redis.kill()
    await vi.waitUntil(() => !here.bus.collects && !there.bus.collects, { timeout: 2_000, interval: 5 })
    expect(there.bus.confirmed).toBe(true) // what ends sign-ins still arrives
    await change(room)
    await arrives(heard)
    expect(notified).toHaveLength(1)
    const before = doubts
    await vi.waitUntil(() => doubts >= before + 2, { timeout: 4_000, interval: 20 }) // every second

    await redis.start()
    await vi.waitUntil(() => here.bus.collects && there.bus.collects, { timeout: 10_000, interval: 5 })
    heard.length = notified.length = 0
    await change(room)
    await arrives(heard)
    expect([heard, notified]).toEqual([[hint(room)], []])
  })

  it('PLAT-28 notifies after the fact what a Redis that hangs did not take, within two seconds', async () => {
    const room = newId()
    const heard = await follow(there, room)
    redis.signal('SIGSTOP')
    const since = performance.now()
    await change(room) // collected, for nobody can know yet
    await arrives(heard)
    expect(performance.now() - since).toBeLessThan(2_000)
    // The look that doubt makes may find the change before the refused hint is notified.
    await expect.poll(() => notified, { timeout: 5_000 }).toHaveLength(1)
    redis.signal('SIGCONT')
    await vi.waitUntil(() => here.bus.collects && there.bus.collects, { timeout: 10_000, interval: 5 })
  })

  it('PLAT-30 keeps one subscription a topic, and none when the last follower has left', async () => {
    const room = newId()
    const topic = { channel: 'rooms', orgId: ORG, roomId: room } as const
    const admin = new Redis(redis.url)
    const subscribers = async () => (await admin.pubsub('NUMSUB', `moothall:rooms:${ORG}:${room}`))[1]
    const ends = Array.from({ length: 5 }, () => there.bus.subscribe(topic, () => {}))
    await vi.waitUntil(async () => (await subscribers()) === 1, { timeout: 5_000, interval: 5 })
    ends.pop()?.()
    ends[0]?.()
    ends[0]?.() // said twice
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await subscribers()).toBe(1)
    for (const end of ends) end()
    await vi.waitUntil(async () => (await subscribers()) === 0, { timeout: 5_000, interval: 5 })
    await admin.quit()
  })
})
