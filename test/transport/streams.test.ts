import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { Events } from './events.ts'
import { type LiveWorld, liveWorld, type Person } from './live-world.ts'
import { Peer } from './peer.ts'

const BOUNDS = { pingEvery: 400, initWithin: 300, frame: 2_048, messagesPerMinute: 40, operations: 3 }

let world: LiveWorld
let ann: Person

beforeAll(async () => {
  world = await liveWorld({ bounds: BOUNDS, limits: { sockets: 2, streams: 4 } })
  ann = await world.person()
})
afterAll(() => world.close())
afterEach(async () => {
  Peer.terminateAll()
  Events.terminateAll()
  await vi.waitUntil(() => world.sockets.size === 0, 10_000)
  await vi.waitUntil(() => world.streams.figures.streams === 0, 10_000)
  expect(world.attached).toBe(0)
})

const open = async () => {
  const peer = new Peer(world.wsUrl)
  await once(peer.socket, 'open')
  return peer
}

describe('bounds', () => {
  it('PLAT-34 allows an actor so many sockets, whichever session opens them, and takes the next when one has gone', async () => {
    const again = await world.signIn(ann.userId)
    const first = await Peer.connect(world, ann)
    await Peer.connect(world, again)
    const third = await open()
    third.init(ann)
    expect((await third.closed()).code).toBe(4429)
    await Peer.connect(world, await world.person())

    first.terminate()
    await vi.waitUntil(() => world.streams.figures.sockets === 2, 10_000)
    await Peer.connect(world, again)
  })

  it('PLAT-34 allows an actor so many streams over all sockets and event streams', async () => {
    const peer = await Peer.connect(world, ann)
    peer.subscribe('a', 'subscription { feed { fact } }')
    peer.subscribe('b', 'subscription { feed { fact } }')
    for (let at = 0; at < 2; at++) new Events(world, { query: 'subscription { feed { fact } }', person: ann })
    await vi.waitUntil(() => world.attached === 4, 10_000)

    const refused = new Events(world, { query: 'subscription { feed { fact } }', person: ann })
    await refused.completed()
    expect(refused.results).toMatchObject([{ errors: [{ extensions: { code: 'RATE_LIMITED' } }] }])
    expect(refused.response?.statusCode).toBe(429)
    peer.subscribe('c', 'subscription { feed { fact } }')
    expect((await peer.next('c', 'next')).payload.errors[0].extensions.code).toBe('RATE_LIMITED')

    peer.send({ id: 'a', type: 'complete' })
    await vi.waitUntil(() => world.attached === 3, 10_000)
    peer.subscribe('d', 'subscription { feed { fact } }')
    await vi.waitUntil(() => world.attached === 4, 10_000)
  })

  it('PLAT-34 allows a socket so many operations at once, also when their subscribers have left', async () => {
    const peer = await Peer.connect(world, ann)
    const { asked } = world
    for (const id of ['a', 'b', 'c']) peer.subscribe(id, '{ slow }')
    await vi.waitUntil(() => world.asked === asked + 3, 10_000)
    peer.send({ id: 'a', type: 'complete' })
    peer.subscribe('d', '{ hello }')
    expect((await peer.next('d', 'error')).payload[0].extensions).toEqual({ code: 'RATE_LIMITED' })
    world.gate.resolve()
    world.gate = Promise.withResolvers()
    await peer.next('b', 'complete')
    await peer.next('c', 'complete')
    peer.subscribe('e', '{ hello }')
    await peer.next('e', 'complete')
  })

  it('PLAT-34 closes a socket that sends too many messages in a minute by 4429', async () => {
    const peer = await Peer.connect(world, ann)
    for (let at = 1; at < BOUNDS.messagesPerMinute; at++) peer.send({ type: 'ping' })
    const pongs = () => peer.messages.filter(({ type }) => type === 'pong').length
    await vi.waitUntil(() => pongs() === BOUNDS.messagesPerMinute - 1, 10_000) // with connection_init, as many as may be
    peer.send({ type: 'ping' })
    expect((await peer.closed()).code).toBe(4429)
  })

  it('PLAT-34 closes a socket over a frame that is too large, and takes one that just fits', async () => {
    const peer = await Peer.connect(world, ann)
    const message = (length: number) => {
      const empty = JSON.stringify({ id: 'a', type: 'subscribe', payload: { query: '{ hello }#' } })
      return empty.replace('#', `#${'x'.repeat(length - empty.length)}`)
    }
    peer.socket.send(message(BOUNDS.frame))
    await peer.next('a', 'complete')
    peer.socket.send(message(BOUNDS.frame + 1))
    expect((await peer.closed()).code).toBe(1009)
  })

  it('PLAT-34 closes a socket that is not initialised in time, twice, or with the wrong protocol', async () => {
    const silent = await open()
    expect((await silent.closed()).code).toBe(4408)
    const eager = await Peer.connect(world, ann)
    eager.init(ann)
    expect((await eager.closed()).code).toBe(4429)
    const early = await open()
    early.subscribe('a', '{ hello }')
    expect((await early.closed()).code).toBe(4401)
    const garbled = await open()
    garbled.socket.send('{')
    expect((await garbled.closed()).code).toBe(4400)
    const other = new Peer(world.wsUrl, { protocol: 'graphql-ws' })
    await once(other.socket, 'error') // no protocol in common
  })

  it('answers an upgrade elsewhere with 404', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${world.port}/elsewhere`, 'graphql-transport-ws')
    const [error] = (await once(socket, 'error')) as [Error]
    expect(error.message).toContain('404')
  })
})

describe('heartbeat', () => {
  it('PLAT-32 pings a socket and ends one that is silent for two pings', async () => {
    const lively = await Peer.connect(world, ann)
    const silent = new WebSocket(world.wsUrl, 'graphql-transport-ws', { autoPong: false })
    let pings = 0
    silent.on('ping', () => {
      pings += 1
    })
    await once(silent, 'open')
    silent.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${ann.token}` } }))
    const since = performance.now()
    const [code] = await once(silent, 'close')
    expect(code).toBe(1006)
    expect(pings).toBeGreaterThanOrEqual(1)
    expect(performance.now() - since).toBeLessThan(4 * BOUNDS.pingEvery)
    expect(lively.close).toBeUndefined()
  })

  it('PLAT-32 ends a half-open socket too', async () => {
    const peer = await Peer.connect(world, ann)
    peer.subscribe('feed', 'subscription { feed { fact } }')
    await vi.waitUntil(() => world.attached === 1, 10_000)
    peer.socket.pause() // takes nothing from the connection any more, so answers nothing
    await vi.waitUntil(() => world.sockets.size === 0, { timeout: 2_000 })
    expect(world.attached).toBe(0)
  })
})

describe('a slow peer', () => {
  it('PLAT-34 holds back pulled events, so memory does not grow, and loses none', async () => {
    const peer = await Peer.connect(world, ann)
    peer.subscribe('feed', 'subscription { feed { fact } }')
    await vi.waitUntil(() => world.attached === 1, 10_000)
    peer.pauseReading()
    const from = world.facts.length
    for (let at = 0; at < 40; at++) world.publish(`${at} ${'x'.repeat(256_000)}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(peer.of('feed').length).toBe(0)
    peer.resumeReading()
    await peer.next('feed', 'next', 40)
    const facts = peer.of('feed').map(({ payload }) => payload.data.feed.fact)
    expect(facts).toEqual(world.facts.slice(from))
    world.facts.length = 0
  })

  it('PLAT-34 tells a stream that writes by itself when its peer is a mebibyte behind and when it has caught up', async () => {
    const peer = await Peer.connect(world, ann)
    peer.subscribe('direct', 'subscription { direct { fact } }')
    await vi.waitUntil(() => [...world.directs][0]?.subscriber, 10_000)
    const { sink } = [...world.directs][0]!.subscriber!
    peer.pauseReading()
    const json = (fact: string) => JSON.stringify({ data: { direct: { fact } } })
    let sent = 0
    while (sink.send(json(`${sent} ${'x'.repeat(16_000)}`))) sent += 1
    expect(sink.unsent).toBeGreaterThan(1_048_576)
    expect(sink.unsent).toBeLessThan(1_048_576 + 40_000)

    peer.resumeReading()
    await sink.drained()
    expect(sink.send(json('snapshot'))).toBe(true)
    await peer.next('direct', 'next', sent + 1)
    const facts = peer.of('direct').map(({ payload }) => payload.data.direct.fact.split(' ')[0])
    expect(facts).toEqual([...Array.from({ length: sent }, (_, at) => String(at)), 'snapshot'])
    sink.end()
    await peer.next('direct', 'complete')
  })
})

// Last in this file: there is no way back.
describe('drain', () => {
  it('PLAT-74 completes event streams, lets running operations finish, closes sockets by 1012 and takes no more', async () => {
    const [busy, idle] = [await Peer.connect(world, ann), await Peer.connect(world, ann)]
    const { asked } = world
    busy.subscribe('slow', '{ slow }')
    busy.subscribe('feed', 'subscription { feed { fact } }')
    const events = new Events(world, { query: 'subscription { feed { fact } }', person: ann })
    await vi.waitUntil(() => world.attached === 2 && world.asked === asked + 3, 10_000)
    // Raw, since it must be on its way when the draining begins.
    const late = connectTcp(world.port, '127.0.0.1')
    await once(late, 'connect')

    let drained = false
    const draining = world.sockets.drain().then(() => {
      drained = true
    })
    expect((await idle.closed()).code).toBe(1012)
    await events.completed()
    expect(events.results).toEqual([])
    expect(events.complete).toBe(true)
    await busy.next('feed', 'complete')
    busy.subscribe('new', '{ hello }')
    expect((await busy.next('new', 'error')).payload[0].extensions).toEqual({ code: 'SHUTTING_DOWN' })
    expect(drained).toBe(false)

    world.gate.resolve()
    expect((await busy.next('slow', 'next')).payload).toEqual({ data: { slow: 'done' } })
    expect((await busy.closed()).code).toBe(1012)
    await draining
    late.write('GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    const [answer] = await once(late, 'data')
    expect(String(answer)).toContain('503')
  })
})
