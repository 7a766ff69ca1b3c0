import { type Client, type ClientOptions, createClient } from 'graphql-ws'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type CloseEvent, WebSocket } from 'ws'
import { type TcpProxy, tcpProxy } from '../live/tcp-proxy.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { type Collected, collect } from './collected.ts'
import { untilStreams } from './open-streams.ts'

const WATCH = `subscription Watch($roomId: ID!, $sinceVersion: BigInt) {
  roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) { __typename version ... on VoteCast { userId } }
}`
const FEED = 'subscription { auditFeed { cursor } }'
const ORG_STATE = 'subscription { orgState { id } }'
const SOCKETS = 3
const PATIENCE = { timeout: 30_000, interval: 10 }
const is = (name: string) => (event: { __typename: string }) => event.__typename === name

let world: World
let proxy: TcpProxy
beforeAll(async () => {
  world = await createWorld(await startApp({ MOOTHALL_MAX_SOCKETS_PER_ACTOR: String(SOCKETS) }))
  proxy = await tcpProxy(world.app.url)
})
afterAll(async () => {
  await proxy?.close()
  await world?.close()
})
const clients = new Set<Client>()
afterEach(async () => {
  for (const client of clients) await client.dispose()
  clients.clear()
  await untilStreams(world.app, 0)
})

/** Tries again by itself, at once, as often as it is let. */
function connect({ client: { token } }: Pick<Actor, 'client'>, options: Partial<ClientOptions> = {}) {
  const attempts: boolean[] = []
  const closes: number[] = []
  const client = createClient({
    url: `${world.app.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
    retryAttempts: 5,
    retryWait: async () => {},
    ...options,
    on: {
      connecting: (again) => attempts.push(again),
      closed: (event) => closes.push((event as CloseEvent).code),
      ...options.on,
    },
  })
  clients.add(client)
  const follow = (query: string, variables: Record<string, unknown> = {}, collected = collect()): Collected => {
    client.subscribe({ query, variables }, collected.sink)
    return collected
  }
  return { client, follow, attempts, closes }
}

const throughProxy = () => ({ url: `${proxy.through(world.app.url).replace(/^http/, 'ws')}graphql` })

describe('a graphql-ws client that is cut off', () => {
  it('ROOM-170 goes on behind the last version by itself: no snapshot, no gap, no repeat', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 4 })
    const { follow, attempts } = connect(host, throughProxy())
    const events = followVersions(follow, room)
    await events.next(is('RoomSnapshot'))
    await voters[0]!.vote(room, '1')
    await events.next(is('VoteCast'))

    proxy.freeze()
    proxy.reset()
    await untilStreams(world.app, 0)
    await voters[1]!.vote(room, '2')
    await voters[2]!.vote(room, '3')
    proxy.thaw()
    await events.next(({ userId }) => userId === voters[2]!.id)
    await voters[3]!.vote(room, '5')
    await events.next(({ userId }) => userId === voters[3]!.id)

    expect(attempts[0]).toBe(false)
    expect(attempts.length).toBeGreaterThan(1)
    expect(events.events().filter(is('RoomSnapshot')).length).toBe(1)
    const votes = events.events().filter(is('VoteCast'))
    expect(votes.map(({ userId }) => userId)).toEqual(voters.map(({ id }) => id))
    const versions = versionsOf(events)
    expect(versions).toEqual(versions.map((_, at) => versions[0]! + at))
  })

  it('ROOM-170 gets a snapshot first where what it missed is kept no longer', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const { follow } = connect(host, throughProxy())
    const events = followVersions(follow, room)
    await events.next(is('RoomSnapshot'))

    proxy.freeze()
    proxy.reset()
    await untilStreams(world.app, 0)
    await voters[0]!.vote(room, '2')
    await world.sql('DELETE FROM rooms.room_events WHERE room_id = $1', [room.uuid])
    proxy.thaw()
    await events.next(() => events.events().filter(is('RoomSnapshot')).length === 2)
    await voters[1]!.vote(room, '3')
    await events.next(({ userId }) => userId === voters[1]!.id)
    expect(events.events().some(({ userId }) => userId === voters[0]!.id)).toBe(false)
  })

  /** The variables are written anew into each `subscribe` message, so a new connection resumes. */
  function followVersions(follow: ReturnType<typeof connect>['follow'], { id: roomId }: TestRoom): Collected {
    const events = collect()
    const variables = {
      roomId,
      get sinceVersion() {
        return versionsOf(events).at(-1)?.toString()
      },
    }
    return follow(WATCH, variables, events)
  }

  const versionsOf = (events: Collected) =>
    events
      .events()
      .filter(({ version }) => version !== null)
      .map(({ version }) => Number(version))
})

describe('its pings', () => {
  it('PLAT-32 are answered each time, with what they carry', async () => {
    const pings: unknown[] = []
    const pongs: unknown[] = []
    const { follow } = connect(world.owner, {
      keepAlive: 20,
      on: {
        ping: (received) => received || pings.push(null),
        pong: (received) => received && pongs.push(null),
      },
    })
    follow(FEED)
    await vi.waitFor(() => expect(pongs.length).toBeGreaterThanOrEqual(5), PATIENCE)
    expect(pongs.length).toBeLessThanOrEqual(pings.length)

    const { follow: plain, client } = connect(world.owner)
    const echoed = Promise.withResolvers<unknown>()
    client.on('connected', (socket) => {
      ;(socket as WebSocket).send(JSON.stringify({ type: 'ping', payload: { at: 7 } }))
    })
    client.on('pong', (received, payload) => received && echoed.resolve(payload))
    plain(FEED)
    expect(await echoed.promise).toEqual({ at: 7 })
  })
})

describe('codes that end its socket', () => {
  const codeOf = async (ended: Promise<{ error?: unknown }>) => ((await ended).error as CloseEvent | undefined)?.code

  it('ID-1 4401 without a credential that holds: it does not try again', async () => {
    const { follow, attempts } = connect({ client: world.app.client('mhs_wrong') })
    expect(await codeOf(follow(FEED).ended())).toBe(4401)
    expect(attempts).toEqual([false])
  })

  it('PLAT-33 4401 when the session is revoked: it does not try again, and hears nothing more', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const { follow, attempts } = connect(host)
    const events = follow(WATCH, { roomId: room.id })
    const feed = follow(ORG_STATE)
    await events.next(is('RoomSnapshot'))
    const { viewer } = await host.run('{ viewer { session { id } } }')
    await host.mutate('sessionRevoke', { id: viewer.session.id })

    expect(await codeOf(events.ended())).toBe(4401)
    expect(await codeOf(feed.ended())).toBe(4401)
    await voters[0]!.vote(room, '5')
    expect(events.events().some(is('VoteCast'))).toBe(false)
    expect(attempts).toEqual([false])
  })

  it('PLAT-33 4401 when the membership is revoked, with which its sessions end', async () => {
    const member = await world.member()
    const { follow, attempts } = connect(member)
    const state = follow(ORG_STATE)
    await untilStreams(world.app, 2)
    await world.owner.mutate('memberRevoke', { userId: member.id })
    expect(await codeOf(state.ended())).toBe(4401)
    expect(attempts).toEqual([false])
  })

  it('PLAT-33 4403 when standing ends before the session does: it may try again, and reaches nothing', async () => {
    const member = await world.member()
    const { follow, closes } = connect(member, { retryAttempts: 1 })
    const state = follow(ORG_STATE)
    await untilStreams(world.app, 2)
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [member.userId])
    await state.ended()

    expect(closes[0]).toBe(4403)
    expect(state.answers.filter(({ data }) => data?.orgState)).toEqual([])
  })

  it('PLAT-34 4429 for one socket too many: it does not try again, and the others go on', async () => {
    const member = await world.member()
    const { room } = await world.pokerRoom({ host: member })
    const watching = Array.from({ length: SOCKETS }, () => connect(member).follow(WATCH, { roomId: room.id }))
    for (const events of watching) await events.next(is('RoomSnapshot'))

    const { follow, attempts } = connect(member)
    expect(await codeOf(follow(WATCH, { roomId: room.id }).ended())).toBe(4429)
    expect(attempts).toEqual([false])
    await member.vote(room, '5')
    for (const events of watching) await events.next(is('VoteCast'))
  })
})
