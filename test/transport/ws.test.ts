import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { type Client, createClient } from 'graphql-ws'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type LiveWorld, liveWorld, type Person } from './live-world.ts'
import { Peer } from './peer.ts'

let world: LiveWorld
let ann: Person
const connect = (person: Person = ann) => Peer.connect(world, person)

beforeAll(async () => {
  world = await liveWorld()
  ann = await world.person()
})
afterAll(() => world.close())
afterEach(async () => {
  Peer.terminateAll()
  await vi.waitUntil(() => world.sockets.size === 0, 10_000)
  expect(world.streams.figures).toEqual({ sockets: 0, streams: 0 })
  expect(world.attached).toBe(0)
  expect(world.directs.size).toBe(0)
})

describe('the protocol', () => {
  it('PLAT-30 serves queries, mutations and subscriptions to a graphql-ws client over one socket', async () => {
    const client: Client = createClient({
      url: world.wsUrl,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${ann.token}` },
      retryAttempts: 0,
    })
    const ask = async (query: string) => (await client.iterate({ query }).next()).value
    expect(await ask('{ hello }')).toEqual({ data: { hello: 'world' } })
    expect(await ask('mutation { bump }')).toEqual({ data: { bump: 1 } })

    const events = client.iterate({ query: 'subscription { feed { fact person } }' })
    const first = events.next()
    await vi.waitUntil(() => world.attached === 1, 10_000)
    world.publish('one', 'two')
    expect((await first).value).toEqual({ data: { feed: { fact: 'one', person: ann.userId } } })
    expect((await events.next()).value).toEqual({ data: { feed: { fact: 'two', person: ann.userId } } })
    await events.return?.()
    await vi.waitUntil(() => world.attached === 0, 10_000)
    await client.dispose()
  })

  it('keeps the socket and its operations through syntax errors, unknown fields and masked faults', async () => {
    const peer = await connect()
    peer.subscribe('feed', 'subscription { feed { fact } }')
    await vi.waitUntil(() => world.attached === 1, 10_000)
    peer.subscribe('syntax', '{ hello')
    peer.subscribe('unknown', '{ nothing }')
    peer.subscribe('boom', '{ boom }')
    peer.subscribe('ambiguous', 'query a { hello } query b { hello }')

    expect((await peer.next('syntax', 'error')).payload[0].message).toMatch(/Syntax Error/)
    expect((await peer.next('unknown', 'error')).payload[0].message).toMatch(/nothing/)
    const { payload } = await peer.next('boom', 'next')
    expect(payload).toMatchObject({
      data: { boom: null },
      errors: [{ path: ['boom'], extensions: { code: 'INTERNAL' } }],
    })
    await peer.next('ambiguous', 'error')
    world.publish('still here')
    expect((await peer.next('feed', 'next')).payload.data.feed.fact).toBe('still here')

    expect(peer.close).toBeUndefined()
    const everything = JSON.stringify(peer.messages)
    expect(everything).not.toContain('hunter2')
    expect(everything).not.toContain('"http"')
    expect(everything).not.toContain('unexpected')
  })

  it('PLAT-83 tells why a subscription could not be opened, on its own id', async () => {
    const peer = await connect()
    peer.subscribe('refused', 'subscription { refused { fact } }')
    peer.subscribe('missing', 'subscription { missing { fact } }')
    peer.subscribe('broken', 'subscription { broken { fact } }')
    const code = async (id: string) => (await peer.next(id, 'next')).payload.errors[0].extensions
    expect(await code('refused')).toEqual({
      code: 'BAD_REQUEST',
      issues: [{ path: ['input', 'after'], message: 'expected a cursor' }],
    })
    expect(await code('missing')).toEqual({ code: 'NOT_FOUND' })
    expect(await code('broken')).toMatchObject({ code: 'INTERNAL', requestId: expect.any(String) })
    await peer.next('broken', 'complete')
    expect(JSON.stringify(peer.messages)).not.toContain('hunter2')
  })

  it('PLAT-65 gives each operation a request id of its own', async () => {
    const peer = await connect()
    peer.subscribe('a', '{ boom }')
    peer.subscribe('b', '{ boom }')
    const ids = [await peer.next('a', 'next'), await peer.next('b', 'next')].map(
      ({ payload }) => payload.errors[0].extensions.requestId,
    )
    expect(new Set(ids).size).toBe(2)
  })
})

describe('an event', () => {
  it('PLAT-5 has a context, loaders, a transaction and a caller of its own, and leaves no connection behind', async () => {
    const peer = await connect()
    peer.subscribe('feed', 'subscription { feed { fact load transaction person boom } }')
    await vi.waitUntil(() => world.attached === 1, 10_000)
    world.contexts.length = 0
    world.publish(...Array.from({ length: 10 }, (_, at) => `fact ${at}`))
    await peer.next('feed', 'next', 10)

    const results = peer.of('feed').map(({ payload }) => payload)
    expect(results.map(({ data }) => data.feed.fact)).toEqual(Array.from({ length: 10 }, (_, at) => `fact ${at}`))
    expect(new Set(results.map(({ data }) => data.feed.load))).toEqual(new Set([1]))
    expect(new Set(results.map(({ data }) => data.feed.transaction)).size).toBe(10)
    expect(new Set(results.map(({ data }) => data.feed.person))).toEqual(new Set([ann.userId]))
    expect(new Set(world.contexts).size).toBe(10)
    expect(new Set(results.map(({ errors }) => errors[0].extensions.code))).toEqual(new Set(['INTERNAL']))
    await vi.waitUntil(() => world.poolInUse === 0, 10_000)
  })
})

describe('who may', () => {
  it('ID-1 closes a socket without or with a wrong credential by 4401', async () => {
    for (const payload of [undefined, {}, { authorization: 'Bearer mhs_wrong' }, { authorization: 7 }]) {
      const peer = new Peer(world.wsUrl)
      await once(peer.socket, 'open')
      peer.send({ type: 'connection_init', ...(payload && { payload }) })
      expect(await peer.closed()).toEqual({ code: 4401, reason: 'Unauthorized' })
    }
  })

  it('ID-1 says "try again", not "nobody", when the database cannot be asked', async () => {
    const peer = new Peer(world.wsUrl)
    await once(peer.socket, 'open')
    await world.sql.query('REVOKE EXECUTE ON FUNCTION identity.preauth_session FROM moothall_app')
    peer.send({ type: 'connection_init', payload: { authorization: `Bearer ${ann.token}` } })
    const { code } = await peer.closed()
    await world.sql.query('GRANT EXECUTE ON FUNCTION identity.preauth_session TO moothall_app')
    expect(code).toBe(1013)
  })

  it('ID-14 takes a cookie only with an allowed Origin, and a bearer from anywhere', async () => {
    const cookie = `moothall=${ann.token}`
    const origin = 'http://localhost:4000'
    const attempt = async (headers: Record<string, string>, payload?: object) => {
      const peer = new Peer(world.wsUrl, { headers })
      await once(peer.socket, 'open')
      peer.send({ type: 'connection_init', ...(payload && { payload }) })
      await vi.waitUntil(() => peer.close ?? peer.messages[0], 10_000)
      return peer.close?.code ?? peer.messages[0]?.type
    }
    expect(await attempt({ cookie, origin })).toBe('connection_ack')
    expect(await attempt({ cookie, origin: 'https://evil.example' })).toBe(4403)
    expect(await attempt({ cookie })).toBe(4403)
    const bearer = { authorization: `Bearer ${ann.token}` }
    expect(await attempt({ cookie, origin: 'https://other.example' }, bearer)).toBe('connection_ack')
  })

  it('ID-2 reads standing anew for every operation', async () => {
    const ben = await world.person()
    const peer = await connect(ben)
    await world.sql.query('ALTER TABLE identity.sessions DISABLE TRIGGER USER')
    await world.revoke(ben)
    await world.sql.query('ALTER TABLE identity.sessions ENABLE TRIGGER USER')
    peer.subscribe('a', '{ hello }')
    expect((await peer.closed()).code).toBe(4401)
    expect(peer.of('a').filter(({ type }) => type === 'next')).toEqual([])
  })

  it('ID-16 notes the use of the session when the socket opens, not with a query', async () => {
    const cid = await world.person()
    const lastSeen = async () =>
      (
        await world.sql.query('SELECT now() - last_seen_at < $2 AS fresh FROM identity.sessions WHERE id = $1', [
          cid.sessionId,
          '1 min',
        ])
      ).rows[0].fresh
    expect(await lastSeen()).toBe(false)
    await connect(cid)
    await vi.waitUntil(lastSeen, 10_000)
  })
})

describe('the end of standing', () => {
  const feed = 'subscription { feed { fact } }'
  const admins = 'subscription { admins { fact } }'

  it('PLAT-33 closes the sockets of a revoked session by 4401 within a second, and no others', async () => {
    const ben = await world.person()
    const again = await world.signIn(ben.userId)
    const [gone, stays, other] = [await connect(ben), await connect(again), await connect()]
    for (const peer of [gone, stays, other]) peer.subscribe('feed', feed)
    await vi.waitUntil(() => world.attached === 3, 10_000)

    await world.settled()
    const since = performance.now()
    await world.revoke(ben)
    expect((await gone.closed()).code).toBe(4401)
    expect(performance.now() - since).toBeLessThan(1_000)
    await vi.waitUntil(() => world.attached === 2, 10_000)
    world.publish('afterwards')
    await Promise.all([stays.next('feed', 'next'), other.next('feed', 'next')])
    expect(gone.of('feed')).toEqual([])
  })

  it('PLAT-33 closes sockets by 4403 when the membership ends, by 4401 when the person is disabled', async () => {
    const [ben, cid] = [await world.person(), await world.person()]
    const [expelled, disabled] = [await connect(ben), await connect(cid)]
    await world.settled()
    await world.expel(ben)
    await world.sql.query(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [cid.userId])
    expect((await expelled.closed(1_000)).code).toBe(4403)
    expect((await disabled.closed(1_000)).code).toBe(4401)
  })

  it('PLAT-33 ends the streams that a lower role no longer reaches and leaves the rest of the socket', async () => {
    const ben = await world.person('admin')
    const peer = await connect(ben)
    peer.subscribe('admins', admins)
    peer.subscribe('feed', feed)
    await vi.waitUntil(() => world.attached === 2, 10_000)
    await world.settled()
    await world.setRole(ben, 'member')

    const last = await peer.next('admins', 'next')
    expect(last.payload).toEqual({
      errors: [{ message: expect.any(String), extensions: { code: 'FORBIDDEN' } }],
    })
    await peer.next('admins', 'complete')
    world.publish('afterwards')
    await peer.next('feed', 'next')
    expect(peer.of('admins').length).toBe(2)
    expect(peer.close).toBeUndefined()
  })

  it('PLAT-33 delivers nothing after the end, also when the event is being rendered as it comes', async () => {
    const ben = await world.person()
    const peer = await connect(ben)
    peer.subscribe('feed', feed)
    peer.subscribe('direct', 'subscription { direct { fact } }')
    await vi.waitUntil(() => world.attached === 1 && [...world.directs].some(({ subscriber }) => subscriber), 10_000)
    const [direct] = world.directs
    const sink = direct?.subscriber?.sink
    world.streams.endWhere(({ caller }) => caller.userId === ben.userId, 'credential')

    expect(direct?.closed).toBe(1)
    await turn()
    expect(world.attached).toBe(0)
    expect(sink?.send('{"data":{"direct":{"fact":"late"}}}')).toBe(false)
    world.publish('late')
    expect((await peer.closed()).code).toBe(4401)
    expect(JSON.stringify(peer.messages)).not.toContain('late')
  })

  it('PLAT-33 checks every second while hints cannot be trusted, so a lost NOTIFY is no way around', async () => {
    const ben = await world.person()
    const peer = await connect(ben)
    peer.subscribe('feed', feed)
    await vi.waitUntil(() => world.attached === 1, 10_000)
    // A revocation that no NOTIFY tells of, while the listener is down.
    await world.settled()
    await world.sql.query('ALTER TABLE identity.sessions DISABLE TRIGGER USER')
    await world.revoke(ben)
    await world.sql.query('ALTER TABLE identity.sessions ENABLE TRIGGER USER')
    await world.terminateListener()
    expect((await peer.closed(2_000)).code).toBe(4401)
  })

  it('PLAT-33 ends the socket when the credential does, without a hint', async () => {
    const ben = await world.person()
    await world.sql.query(
      `UPDATE identity.sessions SET created_at = now() - interval '30 d' + interval '1500 ms' WHERE id = $1`,
      [ben.sessionId],
    )
    const since = performance.now()
    const peer = await connect(ben)
    const { code } = await peer.closed()
    expect(code).toBe(4401)
    expect(performance.now() - since).toBeGreaterThan(900)
    expect(performance.now() - since).toBeLessThan(2_600)
  })

  it('PLAT-33 misses no revocation between authentication and the books', async () => {
    const ben = await world.person()
    const authenticated = once(world.moments, 'authenticated')
    world.hold = Promise.withResolvers<void>()
    const peer = new Peer(world.wsUrl)
    await once(peer.socket, 'open')
    peer.send({ type: 'connection_init', payload: { authorization: `Bearer ${ben.token}` } })
    await authenticated
    await world.revoke(ben)
    await new Promise((resolve) => setTimeout(resolve, 100)) // its hint is through
    world.hold.resolve()
    expect((await peer.closed(1_000)).code).toBe(4401)
    world.hold = undefined
  })
})
