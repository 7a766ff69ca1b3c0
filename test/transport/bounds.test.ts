import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { metricOf } from '../support/metrics.ts'
import { createWorld, type World } from '../support/world.ts'
import type { LiveWorld, Person } from './live-world.ts'
import { Peer } from './peer.ts'

/** The whole server with the numbers it has by default; `streams.test.ts` has the rest, with smaller ones. */
let app: App
let world: World
const wsUrl = () => `${app.url.replace('http', 'ws')}/graphql`
const connect = (token: string) => Peer.connect({ wsUrl: wsUrl() } as LiveWorld, { token } as Person)
const figure = (series: string) => metricOf(app.url, series)
const FEED = 'subscription { auditFeed { cursor } }'

/** The code a socket is closed with that tries to sign in. */
async function refusalOf(token: string): Promise<number> {
  const peer = new Peer(wsUrl())
  await once(peer.socket, 'open')
  peer.init({ token } as Person)
  return (await peer.closed(10_000)).code
}

beforeAll(async () => {
  app = await startApp()
  world = await createWorld(app)
})
afterAll(() => world.close())
afterEach(async () => {
  Peer.terminateAll()
  await vi.waitFor(
    async () => {
      expect(await figure('moothall_streams{kind="sockets"}')).toBe(0)
      expect(await figure('moothall_streams{kind="streams"}')).toBe(0)
    },
    { timeout: 20_000, interval: 50 },
  )
})

describe('PLAT-34 by default', () => {
  it('an actor has 20 sockets: a person over all sessions, an agent over all its keys, each admin key by itself', async () => {
    const agent = await world.agent()
    const second = await world.key({ agentId: agent.userId })
    const [admin, otherAdmin] = [await world.adminKey(), await world.adminKey()]
    const person = world.owner.client.token as string
    for (const tokens of [[person], [agent.key, second.key], [admin.key]]) {
      await Promise.all(Array.from({ length: 20 }, (_, at) => connect(tokens[at % tokens.length] as string)))
      for (const token of tokens) expect(await refusalOf(token)).toBe(4429)
    }
    await connect(otherAdmin.key) // is another actor
    await connect((await world.agent()).key)
    expect(await figure('moothall_streams_refused_total{bound="sockets"}')).toBeGreaterThanOrEqual(4)
  })

  it('a socket runs 50 operations, an actor 200 streams', async () => {
    const token = world.owner.client.token as string
    const peers = await Promise.all(Array.from({ length: 5 }, () => connect(token)))
    for (const [at, peer] of peers.slice(0, 4).entries()) {
      for (let stream = 0; stream < 50; stream++) peer.subscribe(`s${stream}`, FEED)
      await vi.waitFor(async () => expect(await figure('moothall_streams{kind="streams"}')).toBe(50 * (at + 1)), {
        timeout: 30_000,
        interval: 50,
      })
    }
    const [first, fifth] = [peers[0] as Peer, peers[4] as Peer]
    first.subscribe('51', '{ viewer { user { id } } }')
    expect((await first.next('51', 'error')).payload[0].extensions.code).toBe('RATE_LIMITED')
    fifth.subscribe('201', FEED)
    expect((await fifth.next('201', 'next')).payload.errors[0].extensions.code).toBe('RATE_LIMITED')
    // What has ended makes room.
    first.send({ id: 's0', type: 'complete' })
    await vi.waitFor(
      async () => {
        fifth.subscribe(`again ${performance.now()}`, FEED)
        expect(await figure('moothall_streams{kind="streams"}')).toBe(200)
      },
      { timeout: 10_000, interval: 100 },
    )
  })

  it('a socket sends 600 messages a minute and frames of 256 KiB, and begins within 10 s', async () => {
    const token = world.owner.client.token as string
    const silent = new Peer(wsUrl())
    await once(silent.socket, 'open')
    const opened = performance.now()

    const busy = await connect(token)
    for (let sent = 1; sent < 600; sent++) busy.send({ type: 'ping' }) // the first was its beginning
    await vi.waitUntil(() => busy.messages.filter(({ type }) => type === 'pong').length === 599, 20_000)
    busy.send({ type: 'ping' })
    expect((await busy.closed()).code).toBe(4429)

    const frameOf = (bytes: number) => {
      const frame = { type: 'ping', payload: { filler: '' } }
      frame.payload.filler = 'x'.repeat(bytes - JSON.stringify(frame).length)
      return frame
    }
    const large = await connect(token)
    large.send(frameOf(256 * 1024))
    await vi.waitUntil(() => large.messages.some(({ type }) => type === 'pong'), 10_000)
    large.send(frameOf(256 * 1024 + 1))
    expect((await large.closed()).code).toBe(1009)

    expect(silent.close).toBeUndefined()
    expect((await silent.closed(15_000)).code).toBe(4408)
    expect(performance.now() - opened).toBeGreaterThan(9_000)
    expect(await figure('moothall_streams_refused_total{bound="messages"}')).toBe(1)
  })
})
