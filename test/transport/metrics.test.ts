import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { registry } from '../../src/lib/metrics.ts'
import { type App, startApp } from '../support/app.ts'
import { openEventStream } from '../support/event-stream.ts'
import { metricOf } from '../support/metrics.ts'
import { type Frame, openRoomStream, ROOM_EVENTS } from '../support/room-stream.ts'
import { startProcess } from '../support/server-process.ts'
import { createWorld, type World } from '../support/world.ts'

const TOKEN = 'canary-metrics-token'
const NAMES = [
  'moothall_operation_duration_seconds',
  'moothall_operation_retries_total',
  'moothall_database_pool_connections',
  'moothall_database_pool_waiting',
  'moothall_database_pool_exhausted_total',
  'moothall_listener_confirmed',
  'moothall_notify_queue_usage',
  'moothall_redis_confirmed',
  'moothall_audit_feed_lag_seconds',
  'moothall_streams',
  'moothall_frames_rendered_total',
  'moothall_frames_sent_total',
  'moothall_frame_bytes_total',
  'moothall_streams_collapsed_total',
  'moothall_row_security_refused_total',
  'moothall_rate_limit_store_failures_total',
  'moothall_sweep_failures_total',
  'moothall_queue_claims_total',
  'moothall_queue_outcomes_total',
  'process_cpu_seconds_total',
  'nodejs_eventloop_lag_seconds',
]

let app: App
let world: World
const figure = (series: string) => metricOf(app.url, series)

beforeAll(async () => {
  app = await startApp({ HOST: '0.0.0.0' })
  world = await createWorld(app)
})
afterAll(() => world.close())

/** The status of `/metrics`, asked from one address of this machine under whatever headers. */
function statusOf(host: string, headers: Record<string, string> = {}, url = app.url): Promise<number | undefined> {
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    request({ host, port, path: '/metrics', headers }, (response) => resolve(response.resume().statusCode))
      .once('error', reject)
      .end()
  })
}

describe('who may read them', () => {
  it('PLAT-73 opens /metrics to this machine alone while no token is set, and not to what a proxy on it passes on', async () => {
    expect(await statusOf('127.0.0.1')).toBe(200)
    for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host']) {
      expect([header, await statusOf('127.0.0.1', { [header]: '127.0.0.1' })]).toEqual([header, 403])
    }
    const outer = Object.values(networkInterfaces())
      .flat()
      .find((address) => address && !address.internal && address.family === 'IPv4')
    if (outer) expect(await statusOf(outer.address)).toBe(403)
  })

  it('PLAT-73 takes the token where one is set, from anywhere, and nothing else', async () => {
    const guarded = await startProcess(app.database, { MOOTHALL_METRICS_TOKEN: TOKEN })
    const asked = (authorization?: string) =>
      statusOf('127.0.0.1', authorization === undefined ? {} : { authorization }, guarded.url)
    expect(await asked()).toBe(401)
    for (const wrong of ['', TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, 'Bearer']) {
      expect([wrong, await asked(wrong)]).toEqual([wrong, 401])
    }
    expect(await asked(`Bearer ${TOKEN}`)).toBe(200)
    expect(guarded.log()).not.toContain(TOKEN)
    await guarded.close()
  })
})

describe('what they say', () => {
  it('PLAT-73 names every figure an operator needs', async () => {
    const text = await (await fetch(`${app.url}/metrics`)).text()
    const missing = NAMES.filter((name) => !text.includes(`# TYPE ${name} `))
    expect(missing).toEqual([])
  })

  it('PLAT-73 counts operations by kind and code, over HTTP and sockets', async () => {
    const count = (kind: string, code: string) =>
      figure(`moothall_operation_duration_seconds_count{kind="${kind}",code="${code}"}`)
    const grows = async (kind: string, code: string, by: () => Promise<unknown>) => {
      const before = await count(kind, code)
      await by()
      await vi.waitFor(
        async () => expect([kind, code, await count(kind, code)]).toEqual([kind, code, before + 1]),
        5_000,
      )
    }
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    await grows('query', 'OK', () => host.room(room))
    await grows('mutation', 'OK', () => voters[0]!.vote(room, '5'))
    await grows('query', 'UNAUTHENTICATED', () => app.client().send('{ viewer { user { id } } org { id } }'))
    await grows('none', 'GRAPHQL_PARSE_FAILED', () => host.send('{'))
    await grows('none', 'GRAPHQL_VALIDATION_FAILED', () => host.send('{ nothing }'))
    const variables = { roomId: room.id }
    await grows('subscription', 'OK', async () => {
      const stream = openRoomStream({ url: `${app.url}/graphql`, token: host.client.token!, variables })
      await stream.next(({ __typename }: Frame) => __typename === 'RoomSnapshot')
      stream.close()
    })
    await grows('subscription', 'OK', async () => {
      const stream = await openEventStream(`${app.url}/graphql`, host.client.token!, ROOM_EVENTS, variables)
      await stream.next((answer) => answer.data?.roomEvents.__typename === 'RoomSnapshot')
      stream.close()
    })
  })

  it('PLAT-73 counts one rendering for many streams, and each frame sent', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 5 })
    const streams = voters.map(({ client }) =>
      openRoomStream({ url: `${app.url}/graphql`, token: client.token!, variables: { roomId: room.id } }),
    )
    for (const stream of streams) await stream.next(({ __typename }: Frame) => __typename === 'RoomSnapshot')
    expect(await figure('moothall_streams{kind="sockets"}')).toBe(5)
    expect(await figure('moothall_streams{kind="streams"}')).toBe(5)
    const before = {
      rendered: await figure('moothall_frames_rendered_total'),
      sent: await figure('moothall_frames_sent_total'),
    }
    await host.mutate('roomRename', { roomId: room.id, title: 'Another' })
    for (const stream of streams) await stream.next(({ __typename }: Frame) => __typename === 'RoomChanged')
    expect((await figure('moothall_frames_sent_total')) - before.sent).toBeGreaterThanOrEqual(5)
    expect((await figure('moothall_frames_rendered_total')) - before.rendered).toBeLessThan(5)
    for (const stream of streams) stream.close()
    await vi.waitFor(async () => expect(await figure('moothall_streams{kind="sockets"}')).toBe(0), 5_000)
  })

  it('PLAT-64 counts a refusal of row security as an alarm', async () => {
    const before = await figure('moothall_row_security_refused_total')
    await world.sql('REVOKE SELECT ON rooms.spaces FROM moothall_app')
    const answer = await world.owner.send('{ spaces(first: 1) { edges { cursor } } }')
    await world.sql('GRANT SELECT ON rooms.spaces TO moothall_app')
    expect(answer.errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }])
    expect(await figure('moothall_row_security_refused_total')).toBeGreaterThan(before)
  })

  it('PLAT-73 holds no id, slug, address or name in any label, whatever was asked', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const named = `query Secret_${world.org.slug.replaceAll('-', '_')} { room(id: "${room.id}") { id } }`
    await Promise.all([
      ...voters.map((voter) => voter.vote(room, '5')),
      host.send(named),
      host.send('{ noSuchField }'),
      app.client('mhs_wrong').send('{ viewer { user { id } } }'),
      fetch(`${app.url}/${world.org.slug}`),
      fetch(`${app.url}/graphql?query={x}&operationName=${room.uuid}`),
    ])
    const labels = (await registry.getMetricsAsJSON()).flatMap(({ name, values }) =>
      (values as { labels: Record<string, unknown> }[]).flatMap((value) =>
        Object.entries(value.labels).map(([label, text]) => ({ name, label, text: String(text) })),
      ),
    )
    expect(labels.length).toBeGreaterThan(50)
    const secrets = [world.org.slug, world.org.id, room.uuid, room.id, host.userId, host.id, world.home.slug, 'Secret']
    expect(labels.filter(({ text }) => secrets.some((secret) => text.includes(secret)))).toEqual([])
    // Ours are words of the code's own; the rest is Node's.
    const ours = labels.filter(({ name }) => name.startsWith('moothall_'))
    expect(ours.filter(({ label, text }) => !/^[A-Za-z_]{1,32}$/.test(text) && label !== 'le')).toEqual([])
    const values = Map.groupBy(ours, ({ name, label }) => `${name} ${label}`)
    for (const [series, found] of values) {
      expect([series, new Set(found.map(({ text }) => text)).size]).toEqual([
        series,
        expect.toSatisfy((size) => size < 40),
      ])
    }
  })
})
