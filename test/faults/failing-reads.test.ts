import { createClient } from 'graphql-sse'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { openRoomStream, type Stream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
const streams: Stream[] = []
const holds: { release(): Promise<void> }[] = []

beforeAll(async () => {
  world = await createWorld(await startApp({ MOOTHALL_STATEMENT_TIMEOUT: '500ms' }))
})
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close()
  for (const hold of holds.splice(0)) await hold.release()
})
afterAll(() => world.close())

/** Whoever reads the table waits until its statement is stopped. */
async function block(table: string): Promise<void> {
  holds.push(await world.hold(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`))
}
const unblock = () => holds.pop()!.release()
const codes = ({ errors = [] }: Answer) => new Set(errors.map(({ extensions }) => extensions.code))
const failures = () => world.app.log().split('could not be served').length - 1

function follow(actor: Actor, room: TestRoom, selection: string): Stream {
  const stream = openRoomStream({
    url: `${world.app.url}/graphql`,
    token: actor.client.token!,
    variables: { roomId: room.id },
    query: `subscription ($roomId: ID!) { roomEvents(roomId: $roomId) { __typename version ${selection} } }`,
  })
  streams.push(stream)
  return stream
}
const STORIES = '... on RoomSnapshot { room { title poker { stories { title } votedUserIds } } }'
const isSnapshot = ({ __typename }: { __typename: string }) => __typename === 'RoomSnapshot'

it('PLAT-9 says TIMEOUT in every field that the stopped statement leaves without an answer', async () => {
  const { room, host } = await world.pokerRoom({ voters: 1 })
  await block('rooms.stories')
  const selection =
    'poker { stories { title } currentStory { title } votedUserIds } participants { user { displayName } }'
  expect(codes(await host.send(`{ room(id: "${room.id}") { ${selection} } }`))).toEqual(new Set(['TIMEOUT']))
  expect(codes(await host.attempt('roomRename', { roomId: room.id, title: 'X' }, `room { ${selection} }`))).toEqual(
    new Set(['TIMEOUT']),
  )
})

it('PLAT-9 says TIMEOUT to a vote that waits too long for its room, whatever was sent behind', async () => {
  const { room, voters } = await world.pokerRoom({ voters: 1 })
  holds.push(await world.hold('SELECT FROM rooms.rooms WHERE id = $1 FOR UPDATE', [room.uuid]))
  const cast = await voters[0]!.attempt('voteCast', { roomId: room.id, ...room.round, card: '5' })
  expect(codes(cast)).toEqual(new Set(['TIMEOUT']))
})

it('ROOM-170 sends no snapshot with a hole where the database failed, but the whole one when it can', async () => {
  const { room, host } = await world.pokerRoom()
  const before = failures()
  await block('rooms.stories')
  const stream = follow(host, room, STORIES)
  await vi.waitUntil(() => failures() > before, { timeout: 8_000 })
  await unblock()
  const snapshot = await stream.next(isSnapshot)
  expect(snapshot.room.poker.stories).toEqual([{ title: 'Story 1' }])
  expect(stream.answers.flatMap(({ errors }) => errors ?? [])).toEqual([])
})

it('ROOM-173 lets a question that cannot be read keep nobody else waiting, and ends its stream', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await block('rooms.stories')
  const hopeless = follow(voters[0]!, room, STORIES)
  const before = failures()
  await vi.waitUntil(() => failures() > before, { timeout: 8_000 })
  const other = follow(host, room, '')
  await other.next(isSnapshot)
  await vi.waitUntil(() => hopeless.closed?.complete, { timeout: 8_000 })
  expect(hopeless.answers).toMatchObject([{ errors: [{ extensions: { code: 'TIMEOUT' } }] }])
  await host.mutate('roomRename', { roomId: room.id, title: 'On and on' })
  await other.next(({ __typename }) => __typename === 'RoomChanged')
})

it('PLAT-17 ends the feed where the database failed to tell an event, so that no cursor passes it by', async () => {
  const client = createClient({
    url: `${world.app.url}/graphql`,
    headers: { authorization: `Bearer ${world.owner.client.token}` },
    retryAttempts: 0,
  })
  const query = 'subscription ($after: String) { auditFeed(after: $after) { cursor event { type space { name } } } }'
  const follow = (after?: string) => client.iterate({ query, variables: { after } as never })
  const rename = (name: string) => world.owner.mutate('spaceUpdate', { id: world.home.id, name })
  // biome-ignore lint/suspicious/noExplicitAny: the query is text
  const next = async (feed: AsyncIterableIterator<any>) => (await feed.next()).value

  await rename('First')
  const { auditFeed } = await world.owner.run('{ auditFeed(first: 100) { cursor } }')
  await rename('Second')
  await block('rooms.spaces')
  const broken = follow(auditFeed.cursor)
  expect(codes(await next(broken))).toEqual(new Set(['TIMEOUT']))
  expect(await broken.next()).toMatchObject({ done: true })
  await unblock()
  const resumed = follow(auditFeed.cursor)
  expect((await next(resumed)).data.auditFeed.event).toEqual({ type: 'space.updated', space: { name: 'Second' } })
  client.dispose()
})
