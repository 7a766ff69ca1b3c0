import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { openEventStream } from '../support/event-stream.ts'
import { metricOf } from '../support/metrics.ts'
import { redisVersion, startRedis, type TestRedis } from '../support/redis.ts'
import { type Frame, openRoomStream, ROOM_EVENTS, type Stream } from '../support/room-stream.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { createWorld, type World } from '../support/world.ts'

/** The one sender, without NOTIFY: what is not collected for Redis is told to nobody. */
const SEND_HINT = /PERFORM pg_notify\(p_channel, p_payload\);/

describe.skipIf(redisVersion === null)('two server processes with Redis', () => {
  let database: TestDatabase
  let redis: TestRedis
  let world: World
  let [one, two]: ServerProcess[] = []
  const streams: { close(): void }[] = []

  beforeAll(async () => {
    ;[database, redis] = await Promise.all([createDatabase(), startRedis()])
    const env = { REDIS_URL: redis.url }
    ;[one, two] = await Promise.all([startProcess(database, env), startProcess(database, env)])
    world = await createWorld(one)
    await Promise.all([ready(one), ready(two)])
  }, 120_000)
  afterAll(async () => {
    for (const stream of streams) stream.close()
    await world?.close()
    await two?.close()
    await redis?.remove()
    await database?.drop()
  })

  function follow(actor: Actor, room: { id: string }, server = two!): Stream {
    const stream = openRoomStream({
      url: `${server.url}/graphql`,
      token: actor.client.token!,
      variables: { roomId: room.id },
    })
    streams.push(stream)
    return stream
  }
  const is = (type: string) => (event: Frame) => event.__typename === type
  const snapshotOf = (stream: Stream) => stream.next(is('RoomSnapshot'), 'the snapshot')
  const readiness = async (server: ServerProcess) => (await fetch(`${server.url}/readyz`)).json()
  const ready = (server: ServerProcess) =>
    vi.waitFor(async () => expect(await readiness(server)).toEqual({ status: 'ready' }), { timeout: 15_000 })
  const redisConfirmed = (to: number) =>
    vi.waitFor(
      async () => {
        for (const server of [one!, two!]) expect(await metricOf(server.url, 'moothall_redis_confirmed')).toBe(to)
      },
      { timeout: 10_000, interval: 20 },
    )
  async function withoutNotify(work: () => Promise<void>): Promise<void> {
    const [{ source }] = (await world.sql<{ source: string }>(
      `SELECT pg_get_functiondef('platform.send_hint'::regproc) AS source`,
    )) as [{ source: string }]
    expect(source).toMatch(SEND_HINT)
    await world.sql(source.replace(SEND_HINT, 'NULL;'))
    try {
      await work()
    } finally {
      await world.sql(source)
    }
  }
  /** Every version from the first to the room's head, once. */
  async function expectWhole(stream: Stream, host: Actor, room: TestRoom): Promise<void> {
    const head = Number((await host.room(room)).version)
    await stream.next((event) => Number(event.version) === head, 'the head')
    const versions = stream.versions()
    expect(versions).toEqual(versions.map((_, at) => versions[0]! + at))
  }

  it('PLAT-25 delivers votes and presence of one to a stream of the other, with NOTIFY for rooms stubbed away', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const stream = follow(host, room)
    await snapshotOf(stream)
    await withoutNotify(async () => {
      // Who is present has no version, so no poll finds it.
      const other = follow(voters[0]!, room, one!)
      await snapshotOf(other)
      const present = ({ userIds }: Frame) => userIds?.includes(voters[0]!.id)
      await stream.next(present, 'the presence of who opened a stream on the other process')
      const sent = await metricOf(one!.url, 'moothall_hints_sent_total{way="redis"}')
      for (const voter of voters) await voter.vote(room, '5')
      for (const voter of voters) await stream.next(({ userId }) => userId === voter.id, 'the vote')
      expect(await metricOf(one!.url, 'moothall_hints_sent_total{way="redis"}')).toBeGreaterThan(sent)
    })
    await expectWhole(stream, host, room)
  })

  it('PLAT-28 delivers within one look what a process committed that was killed before it published', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const stream = follow(host, room)
    await snapshotOf(stream)
    // As the killed process left it: the transaction collected its hints, committed, and nobody published them.
    const killed = new pg.Client({ connectionString: database.ownerUrl })
    killed.on('error', () => {}) // the database may be dropped under it
    await killed.connect()
    const before = Number((await host.room(room)).version)
    await killed.query(`BEGIN; SELECT set_config('moothall.hints', E'collect\\n', true)`)
    await killed.query(
      `WITH changed AS (UPDATE rooms.rooms SET version = version + 1 WHERE id = $1 RETURNING *)
       INSERT INTO rooms.room_events (org_id, room_id, version, type, actor_id, audience, payload)
       SELECT org_id, id, version, 'VoteCast', $2::uuid, 'all', jsonb_build_object('storyId', current_story_id,
         'roundVersion', poker_round_version::text, 'userId', $2::uuid) FROM changed`,
      [room.uuid, voters[0]!.userId],
    )
    const { rows } = await killed.query(`SELECT current_setting('moothall.hints') AS hints`)
    expect(rows[0].hints).toContain(room.uuid)
    await killed.query('COMMIT')
    await killed.end()
    const committed = performance.now()
    await stream.next((event) => Number(event.version) === before + 1, 'the event that nobody told of')
    expect(performance.now() - committed).toBeLessThan(5_000) // one look a second, and what a busy machine needs
  })

  it('ROOM-170 loses and doubles no version while Redis is killed, stays away, comes back and hangs', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 12 })
    const stream = follow(host, room)
    await snapshotOf(stream)
    const vote = (from: number, to: number) =>
      Promise.all(
        voters
          .slice(from, to)
          .map(async (voter) => expect((await voter.vote(room, '3')).__typename).toBe('VoteCastPayload')),
      )
    const voting = vote(0, 3)
    await redis.kill()
    await voting
    await redisConfirmed(0)
    await vote(3, 6)
    await redis.start()
    const returning = vote(6, 9)
    await Promise.all([returning, redisConfirmed(1)])
    redis.signal('SIGSTOP')
    await vote(9, 12)
    redis.signal('SIGCONT')
    await redisConfirmed(1)
    await expectWhole(stream, host, room)
    for (const voter of voters) expect(stream.events.filter(({ userId }) => userId === voter.id)).toHaveLength(1)
  })

  it('PLAT-33 ends SSE and WebSocket of a session revoked on the other within a second, with Redis and without', async () => {
    for (const away of [false, true]) {
      if (away) await redis.kill()
      if (away) await redisConfirmed(0)
      const { room } = await world.pokerRoom()
      const person = await world.member()
      const socket = follow(person, room)
      const events = await openEventStream(`${two!.url}/graphql`, person.client.token!, ROOM_EVENTS, {
        roomId: room.id,
      })
      streams.push(events)
      await Promise.all([
        snapshotOf(socket),
        events.next((answer) => answer.data?.roomEvents.__typename === 'RoomSnapshot'),
      ])
      const revoked = performance.now()
      await person.run('mutation { sessionEnd { __typename } }')
      await Promise.all([
        vi.waitFor(() => expect(socket.closed?.code).toBe(4401), { timeout: 3_000, interval: 5 }),
        vi.waitFor(() => expect(events.ended).toBe(true), { timeout: 3_000, interval: 5 }),
      ])
      expect(performance.now() - revoked).toBeLessThan(1_500) // a second, and what a busy machine takes for the check
      expect(events.answers.at(-1)?.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
    }
    await redis.start()
    await redisConfirmed(1)
  })

  it('PLAT-17 wakes the audit feed of the other process at once', async () => {
    const { room, host } = await world.pokerRoom()
    const feed = await openEventStream(
      `${two!.url}/graphql`,
      world.owner.client.token!,
      'subscription { auditFeed { event { type } } }',
      {},
    )
    streams.push(feed)
    await withoutNotify(async () => {
      for (let round = 0; round < 3; round++) {
        const heard = feed.answers.length
        const since = performance.now()
        await host.mutate('roomRename', { roomId: room.id, title: `Title ${round}` })
        await vi.waitUntil(() => feed.answers.length > heard, { timeout: 10_000, interval: 5 })
        if (round > 0) expect(performance.now() - since).toBeLessThan(4_000) // the look without a hint is every 5 s
      }
    })
  })

  it('PLAT-69 counts sign-in failures of both processes together', async () => {
    const attempt = (server: ServerProcess) =>
      server
        .client()
        .send(
          'mutation ($input: SessionCreateWithPasswordInput!) { sessionCreateWithPassword(input: $input) { __typename } }',
          { input: { email: 'nobody@example.com', password: 'wrong password' } },
        )
    const codes: unknown[] = []
    for (const server of [one!, two!, one!, two!, one!, two!, one!]) {
      codes.push((await attempt(server)).errors?.[0]?.extensions.code)
    }
    expect(codes).toEqual([...Array(5).fill(undefined), 'RATE_LIMITED', 'RATE_LIMITED'])
    const inspect = new Redis(redis.url)
    const keys = await inspect.keys('moothall:rate:*')
    expect(keys.some((key) => key.startsWith('moothall:rate:signInPersonAddress:'))).toBe(true)
    expect(keys.join()).not.toMatch(/example|127\.0\.0\.1/) // HMACs name nobody
    await inspect.quit()
  })

  it('PLAT-70 refuses sign-ins while Redis is away, lets the signed-in work on, counts it, and names Redis at /readyz', async () => {
    await redis.kill()
    await redisConfirmed(0)
    const { room, voters } = await world.pokerRoom({ voters: 1 })
    expect((await voters[0]!.vote(room, '5')).__typename).toBe('VoteCastPayload')
    const answer = await one!
      .client()
      .send('mutation { sessionCreateAnonymous(input: { orgSlug: "x", displayName: "A" }) { __typename } }')
    expect(answer.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    expect(
      await metricOf(one!.url, 'moothall_rate_limit_store_failures_total{kind="anonymousSession"}'),
    ).toBeGreaterThan(0)
    await vi.waitFor(async () => expect(await readiness(one!)).toEqual({ status: 'unready', failing: ['redis'] }), {
      timeout: 15_000,
      interval: 100,
    })
    // One that starts now serves as well, and goes by NOTIFY.
    const third = await startProcess(database, { REDIS_URL: redis.url })
    const stream = follow(voters[0]!, room, third)
    await snapshotOf(stream)
    await voters[0]!.vote(room, '8')
    await stream.next(is('VoteCast'), 'the vote by NOTIFY')
    expect((await fetch(`${third.url}/readyz`)).status).toBe(503)
    expect(await third.stop()).toBe(0)
    await redis.start()
    await ready(one!)
    for (const server of [one!, third]) expect(server.log()).not.toContain('canary-redis-password')
  })

  it('PLAT-74 stops in time with Redis, and while it hangs', async () => {
    for (const hangs of [false, true]) {
      const server = await startProcess(database, { REDIS_URL: redis.url })
      await ready(server)
      const { room, voters } = await world.pokerRoom({ voters: 1 })
      await snapshotOf(follow(voters[0]!, room, server))
      if (hangs) redis.signal('SIGSTOP')
      const since = performance.now()
      expect(await server.stop()).toBe(0)
      expect(performance.now() - since).toBeLessThan(5_000)
      redis.signal('SIGCONT')
    }
  })
})
