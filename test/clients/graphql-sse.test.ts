import { createClient, NetworkError } from 'graphql-sse'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { tcpProxy } from '../live/tcp-proxy.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { type Collected, collect } from './collected.ts'
import { untilStreams } from './open-streams.ts'

const WATCH = `subscription Watch($roomId: ID!, $sinceVersion: BigInt) {
  roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) { __typename version ... on VoteCast { userId } }
}`
const FEED = `subscription Feed($after: String) {
  auditFeed(after: $after, filter: { type: { eq: "space.updated" } }) { cursor event { id type targetId } }
}`
const is = (name: string) => (event: { __typename: string }) => event.__typename === name

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())
afterEach(() => untilStreams(world.app, 0))

const endpoint = () => `${world.app.url}/graphql`

type Setup = { url?: string; singleConnection?: boolean; retryAttempts?: number }
/** In the mode of distinct connections, its default: every subscription is a request of its own. */
function connect({ client: { token } }: Pick<Actor, 'client'>, setup: Setup = {}) {
  const attempts: boolean[] = []
  const client = createClient({
    url: endpoint(),
    headers: { authorization: `Bearer ${token}` },
    retryAttempts: 0,
    retry: async () => {},
    on: { connecting: (again) => attempts.push(again) },
    ...(setup as { singleConnection?: false }),
  })
  const follow = (query: string, variables: Record<string, unknown> = {}, collected = collect()): Collected => {
    client.subscribe({ query, variables }, collected.sink)
    return collected
  }
  return { client, follow, attempts }
}

const rename = async (name: string) => {
  const { __typename } = await world.owner.mutate('spaceUpdate', { id: world.home.id, name })
  expect(__typename).toBe('SpaceUpdatePayload')
}

describe('graphql-sse', () => {
  it('PLAT-30 follows a room from its snapshot on, and its going closes the source', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const [one, other] = [connect(host), connect(voters[0]!)]
    const first = collect()
    const unsubscribe = one.client.subscribe({ query: WATCH, variables: { roomId: room.id } }, first.sink)
    const second = other.follow(WATCH, { roomId: room.id })
    await Promise.all([first.next(is('RoomSnapshot')), second.next(is('RoomSnapshot'))])

    await voters[1]!.vote(room, '8')
    expect((await first.next(is('VoteCast'))).userId).toBe(voters[1]!.id)
    expect((await second.next(is('VoteCast'))).userId).toBe(voters[1]!.id)

    await untilStreams(world.app, 2)
    unsubscribe()
    await untilStreams(world.app, 1)
    other.client.dispose()
    await untilStreams(world.app, 0)
  })

  it('PLAT-30 follows the record in its order and, cut off, goes on behind the last cursor by itself', async () => {
    const proxy = await tcpProxy(world.app.url)
    const { client, follow, attempts } = connect(world.owner, { url: proxy.through(endpoint()), retryAttempts: 5 })
    const feed = collect()
    // Each attempt is a request of its own, which reads its variables anew.
    const variables = {
      get after() {
        return feed.events().at(-1)?.cursor
      },
    }
    follow(FEED, variables, feed)
    await untilStreams(world.app, 1)
    await rename('One')
    await feed.next(() => true)

    proxy.freeze()
    proxy.reset()
    await untilStreams(world.app, 0)
    await rename('Two')
    await rename('Three')
    proxy.thaw()
    await feed.next(() => feed.events().length >= 3)
    await rename('Four')
    await feed.next(() => feed.events().length >= 4)

    expect(attempts.length).toBeGreaterThan(1)
    const recorded = await world.sql<{ id: string }>(
      `SELECT id FROM platform.audit_events WHERE org_id = $1 AND event_type = 'space.updated' ORDER BY era, xact_id, id`,
      [world.org.id],
    )
    expect(feed.events().map(({ event }) => uuidOf(event.id))).toEqual(recorded.map(({ id }) => id))
    client.dispose()
    await proxy.close()
  })

  it('PLAT-33 is told that the session was revoked, then the end, and nothing else', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const elsewhere = await world.signIn(host)
    const { follow, attempts } = connect(host, { retryAttempts: 5 })
    const events = follow(WATCH, { roomId: room.id })
    await events.next(is('RoomSnapshot'))
    const others = connect(elsewhere)
    const stays = others.follow(WATCH, { roomId: room.id })
    await stays.next(is('RoomSnapshot'))

    const own = await elsewhere.run('{ viewer { sessions { nodes { id isCurrent } } } }')
    const revoked = own.viewer.sessions.nodes.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent)
    expect((await elsewhere.mutate('sessionRevoke', { id: revoked.id })).__typename).toBe('SessionRevokePayload')

    expect(await events.ended()).toEqual({}) // completed, not broken: there is nothing to try again
    await voters[0]!.vote(room, '5')
    await stays.next(is('VoteCast'))
    expect(events.events().some(is('VoteCast'))).toBe(false)
    expect(events.answers.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] })
    expect(events.answers.filter(({ errors }) => errors).length).toBe(1)
    expect(attempts).toEqual([false])
    others.client.dispose()
  })

  it('PLAT-33 is told FORBIDDEN when a lower role no longer reaches what it follows', async () => {
    const admin = await world.member({ role: 'admin' })
    const feed = connect(admin).follow(FEED)
    await untilStreams(world.app, 1)
    await world.owner.mutate('memberUpdate', { userId: admin.id, role: 'MEMBER' })

    expect(await feed.ended()).toEqual({})
    expect(feed.answers).toMatchObject([{ errors: [{ extensions: { code: 'FORBIDDEN' } }] }])
  })

  it('PLAT-83 reads in the status why a stream does not open', async () => {
    const { room, host } = await world.pokerRoom()
    const nobody = { client: world.app.client('mhs_wrong') }
    const refused = async (actor: Pick<Actor, 'client'>, query: string, variables?: Record<string, unknown>) => {
      const { error } = await connect(actor).follow(query, variables).ended()
      expect(error, query).toBeInstanceOf(NetworkError)
      return (error as NetworkError).response?.status
    }
    expect(await refused(await world.outsider(), WATCH, { roomId: room.id })).toBe(404)
    expect(await refused(host, FEED)).toBe(403)
    expect(await refused(nobody, WATCH, { roomId: room.id })).toBe(401)
  })

  it('PLAT-83 reads in the answer what is wrong with the variables, and nothing to try again', async () => {
    const { follow, attempts } = connect(world.owner, { retryAttempts: 5 })
    const stream = follow(WATCH, {})
    expect(await stream.ended()).toEqual({})
    expect(stream.answers).toMatchObject([{ errors: [{ extensions: { code: 'BAD_REQUEST' } }] }])
    expect(attempts).toEqual([false])
  })

  it('asks queries and mutations in the same way: one answer, then the end', async () => {
    const { room, host } = await world.pokerRoom()
    const { follow } = connect(host)
    const query = follow('query ($id: ID!) { room(id: $id) { title } }', { id: room.id })
    expect(await query.ended()).toEqual({})
    expect(query.answers).toMatchObject([{ data: { room: { title: 'Planning' } } }])
    const mutation = follow('mutation ($input: VoteCastInput!) { voteCast(input: $input) { __typename } }', {
      input: { roomId: room.id, ...room.round, card: '5' },
    })
    expect(await mutation.ended()).toEqual({})
    expect(mutation.answers).toMatchObject([{ data: { voteCast: { __typename: 'VoteCastPayload' } } }])
  })

  it('finds no single connection mode, which reserves a stream by PUT', async () => {
    const { follow } = connect(world.owner, { singleConnection: true })
    const { error } = await follow(FEED).ended()
    expect((error as NetworkError).response?.status).toBe(405)
  })
})
