import { setImmediate as turn } from 'node:timers/promises'
import { createClient } from 'graphql-sse'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { Events } from './events.ts'
import { type LiveWorld, liveWorld, type Person } from './live-world.ts'

const FEED = 'subscription { feed { fact } }'
const PING = 40

let world: LiveWorld
let ann: Person

beforeAll(async () => {
  world = await liveWorld({ pingEvery: PING })
  ann = await world.person()
})
afterAll(() => world.close())
afterEach(async () => {
  Events.terminateAll()
  await vi.waitUntil(() => world.streams.figures.streams === 0, 10_000)
  await turn()
  expect(world.attached).toBe(0)
  expect(world.directs.size).toBe(0)
})

async function follow(query = FEED, person = ann): Promise<Events> {
  const { attached } = world
  const events = new Events(world, { query, person })
  await vi.waitUntil(() => world.attached > attached, { interval: 5, timeout: 10_000 })
  return events
}

describe('server-sent events', () => {
  it('PLAT-30 serve a graphql-sse client: events, their errors, and the end when it unsubscribes', async () => {
    const client = createClient({ url: world.url, headers: { authorization: `Bearer ${ann.token}` }, retryAttempts: 0 })
    const events = client.iterate({ query: 'subscription { feed { fact person boom } }' })
    const first = events.next()
    await vi.waitUntil(() => world.attached === 1, 10_000)
    world.publish('one', 'two')
    expect((await first).value).toMatchObject({
      data: { feed: { fact: 'one', person: ann.userId, boom: null } },
      errors: [{ path: ['feed', 'boom'], extensions: { code: 'INTERNAL' } }],
    })
    expect((await events.next()).value).toMatchObject({ data: { feed: { fact: 'two' } } })
    await events.return?.()
    await vi.waitUntil(() => world.attached === 0, 10_000)
    client.dispose()
  })

  it('PLAT-32 carry their headers and pings whether or not events flow', async () => {
    const events = await follow()
    await vi.waitUntil(() => events.pings >= 4, { interval: 5, timeout: 10_000 })
    expect(events.response?.statusCode).toBe(200)
    expect(events.response?.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })

    const busy = setInterval(() => world.publish('busy'), PING / 4)
    const before = events.pings
    await vi.waitUntil(() => events.pings >= before + 4 && events.results.length > 4, { timeout: 5_000, interval: 5 })
    clearInterval(busy)
  })

  it('PLAT-83 tell why a subscription could not be opened, with its status, and complete', async () => {
    const refusal = async (field: string, person?: Person) => {
      const events = new Events(world, { query: `subscription { ${field} { fact } }`, ...(person && { person }) })
      await events.completed()
      const [result] = events.results as { errors: { extensions: { code: string } }[] }[]
      return [events.response?.statusCode, result?.errors[0]?.extensions.code, events.complete]
    }
    expect(await refusal('missing', ann)).toEqual([404, 'NOT_FOUND', true])
    expect(await refusal('refused', ann)).toEqual([400, 'BAD_REQUEST', true])
    expect(await refusal('feed')).toEqual([401, 'UNAUTHENTICATED', true])
    expect(await refusal('feed', { ...ann, token: 'mhs_wrong' })).toEqual([401, 'UNAUTHENTICATED', true])
    expect(await refusal('broken', ann)).toEqual([200, 'INTERNAL', true])
  })

  it('PLAT-83 refuse a root field that may be left out', async () => {
    const [left, kept] = ['@skip(if: true)', '@include(if: true)']
    const queries = [
      `subscription { feed ${left} { fact } }`,
      `subscription { ...F } fragment F on Subscription { ... ${kept} { feed { fact } } }`,
    ]
    for (const query of queries) {
      const events = new Events(world, { query, person: ann })
      await events.completed()
      expect(events.results).toMatchObject([{ errors: [{ extensions: { code: 'BAD_REQUEST' } }] }])
      expect(events.response?.statusCode).toBe(400)
    }
  })

  it('refuse a subscription to whoever cannot take a stream, before anything is opened', async () => {
    const { asked } = world
    const events = new Events(world, { query: FEED, person: ann, accept: 'application/json' })
    await events.completed()
    expect(events.response?.statusCode).toBe(400)
    expect(JSON.parse(events.text).errors[0].extensions.code).toBe('BAD_REQUEST')
    expect(world.asked).toBe(asked)
  })

  it('answer queries too, and leave JSON to those who take it', async () => {
    const streamed = new Events(world, { query: '{ hello }', person: ann })
    await streamed.completed()
    expect(streamed.results).toEqual([{ data: { hello: 'world' } }])
    expect(streamed.complete).toBe(true)
    const json = new Events(world, { query: '{ hello }', person: ann, accept: 'application/json, text/event-stream' })
    await json.completed()
    expect(JSON.parse(json.text)).toEqual({ data: { hello: 'world' } })
  })

  it('ID-16 note the use of the session when a stream opens, and not with a query', async () => {
    const ben = await world.person()
    const fresh = async () => {
      const sql = `SELECT now() - last_seen_at < '1 min' AS fresh FROM identity.sessions WHERE id = $1`
      return (await world.sql.query(sql, [ben.sessionId])).rows[0].fresh as boolean
    }
    await new Events(world, { query: '{ hello }', person: ben }).completed()
    expect(await fresh()).toBe(false)
    await follow(FEED, ben)
    await vi.waitUntil(fresh, 10_000)
  })
})

describe('a peer that goes', () => {
  it('PLAT-30 releases the source at once while it is parked', async () => {
    const events = await follow('subscription { parked { fact } }')
    events.leave()
    await vi.waitUntil(() => world.attached === 0, { interval: 2, timeout: 10_000 })
  })

  it('PLAT-30 leaves no source behind when it goes while subscribe is pending', async () => {
    const { asked } = world
    const events = new Events(world, { query: 'subscription { pending { fact } }', person: ann })
    await vi.waitUntil(() => world.asked === asked + 1, 10_000)
    events.leave()
    await vi.waitUntil(() => world.streams.figures.streams === 0, { interval: 2, timeout: 10_000 })
    world.gate.resolve()
    world.gate = Promise.withResolvers()
    await turn()
    await turn()
    expect(world.attached).toBe(0)
  })

  it('PLAT-34 is cut off when it takes nothing for long while bytes wait for it', async () => {
    const { directs } = world
    const events = new Events(world, { query: 'subscription { direct { fact } }', person: ann })
    await vi.waitUntil(() => [...directs][0]?.subscriber && events.response, { timeout: 20_000 })
    events.response?.pause()
    const sink = [...directs][0]?.subscriber?.sink
    await vi.waitUntil(() => sink?.send(JSON.stringify({ data: 'x'.repeat(64_000) })) === false, {
      interval: 0,
      timeout: 20_000,
    })
    await vi.waitUntil(() => directs.size === 0, { timeout: 20_000 })
  })
})

describe('the end of standing', () => {
  it('PLAT-33 completes the stream of a revoked session with an error event within a second, and no other', async () => {
    const ben = await world.person()
    const [gone, stays] = [await follow(FEED, ben), await follow()]
    await world.settled()
    const since = performance.now()
    await world.revoke(ben)
    await gone.completed(1_000)
    expect(performance.now() - since).toBeLessThan(1_000)
    await vi.waitUntil(() => world.attached === 1, 10_000)
    world.publish('afterwards')
    expect(await stays.take(1)).toEqual([{ data: { feed: { fact: 'afterwards' } } }])
    expect(gone.results).toEqual([
      { errors: [{ message: expect.any(String), extensions: { code: 'UNAUTHENTICATED' } }] },
    ])
    expect(gone.complete).toBe(true)
  })

  it('PLAT-33 completes it with FORBIDDEN when the membership ends', async () => {
    const ben = await world.person()
    const events = await follow(FEED, ben)
    await world.settled()
    await world.expel(ben)
    await events.completed(1_000)
    expect(events.results).toMatchObject([{ errors: [{ extensions: { code: 'FORBIDDEN' } }] }])
  })

  it('PLAT-33 ends a stream whose subscribe is still pending when the session is revoked', async () => {
    const ben = await world.person()
    const { asked } = world
    const events = new Events(world, { query: 'subscription { pending { fact } }', person: ben })
    await vi.waitUntil(() => world.asked === asked + 1, 10_000)
    await world.settled()
    await world.revoke(ben)
    await vi.waitUntil(() => world.streams.figures.streams === 0, { timeout: 1_000, interval: 5 })
    world.gate.resolve()
    world.gate = Promise.withResolvers()
    await events.completed()
    expect(events.results).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }])
  })

  it('PLAT-33 ends the stream with its credential, which the use of it has prolonged', async () => {
    const ben = await world.person()
    // Idle for all but 1.5 s of the two weeks; opening the stream counts as use.
    const idle = `UPDATE identity.sessions SET created_at = now() - interval '15 d', last_seen_at = now() - interval '14 d' + interval '1500 ms' WHERE id = $1`
    await world.sql.query(idle, [ben.sessionId])
    const events = await follow(FEED, ben)
    await new Promise((resolve) => setTimeout(resolve, 1_700))
    world.publish('still here')
    await events.take(1)

    await world.settled()
    await world.sql.query('ALTER TABLE identity.sessions DISABLE TRIGGER USER')
    await world.sql.query(`UPDATE identity.sessions SET created_at = now() - interval '30 d' WHERE id = $1`, [
      ben.sessionId,
    ])
    await world.sql.query('ALTER TABLE identity.sessions ENABLE TRIGGER USER')
    world.publish('too late')
    await events.completed()
    expect(events.results.slice(1)).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }])
  })
})

describe('frames of a stream that writes by itself', () => {
  it('reach every subscriber in order with the same bytes and end with a reason', async () => {
    const all = Array.from(
      { length: 3 },
      () => new Events(world, { query: 'subscription { direct { fact } }', person: ann }),
    )
    await vi.waitUntil(() => [...world.directs].filter(({ subscriber }) => subscriber).length === 3, 10_000)
    const sinks = [...world.directs].map(({ subscriber }) => subscriber!.sink)
    const frames = Array.from({ length: 50 }, (_, at) => ({ data: { direct: { fact: `fact ${at}\n` } } }))
    for (const frame of frames) {
      const json = JSON.stringify(frame)
      for (const sink of sinks) expect(sink.send(json)).toBe(true)
    }
    for (const sink of sinks) sink.end('{"errors":[{"message":"gone"}]}')

    for (const events of all) {
      await events.completed()
      expect(events.results).toEqual([...frames, { errors: [{ message: 'gone' }] }])
      expect(events.complete).toBe(true)
    }
  })

  it('PLAT-34 stop for a slow peer at a mebibyte, a snapshot on its way not counted, and go on when it has caught up', async () => {
    const events = new Events(world, { query: 'subscription { direct { fact } }', person: ann })
    await vi.waitUntil(() => [...world.directs][0]?.subscriber && events.response, 10_000)
    const { sink } = [...world.directs][0]!.subscriber!
    events.response?.pause()
    const frame = JSON.stringify({ data: 'x'.repeat(16_000) })
    let sent = 0
    while (sink.send(frame)) sent += 1
    expect(sink.unsent).toBeGreaterThan(1_048_576)
    expect(sink.unsent).toBeLessThan(1_048_576 + 40_000)
    events.response?.resume()
    await sink.drained()
    await events.take(sent)
    await vi.waitUntil(() => sink.unsent === 0, 10_000)

    events.response?.pause()
    const snapshot = JSON.stringify({ data: 'y'.repeat(6_000_000) })
    expect(sink.send(snapshot)).toBe(true)
    expect(sink.send(frame)).toBe(true) // although the snapshot is not through
    events.response?.resume()
    await sink.drained()
    await events.take(sent + 2)
    expect(events.results.length).toBe(sent + 2)
  })
})
