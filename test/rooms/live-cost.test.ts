import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openRoomStreams } from '../../src/rooms/index.ts'
import { startApp } from '../support/app.ts'
import { metricOf } from '../support/metrics.ts'
import { type Frame, openRoomStream, type Stream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
const open: Stream[] = []
const statements: string[] = []

beforeAll(async () => {
  world = await createWorld(await startApp())
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text?: string }]
    statements.push(typeof statement === 'string' ? statement : (statement.text ?? ''))
    return query.apply(this, args)
  } as never)
})
afterAll(async () => {
  for (const stream of open) stream.close()
  await world.close()
})

const STATE = `subscription ($roomId: ID!, $sinceVersion: BigInt) { roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) { __typename version
  ... on VoteCast { userId }
  ... on RoomSnapshot { room { title facilitator { displayName } participants { user { displayName } present } poker { votedUserIds waitingFor { id } stories { title votes { card } result { average } } } } } } }`
const ABOUT_STATE =
  /rooms\.(room_people|round_voted|room_events|stories|votes)|"rooms"\."(rooms|stories|room_participants)"|"identity"\."users"/

const is = (type: string) => (event: Frame) => event.__typename === type

it('ROOM-173 costs the database by rooms, not by heads: one vote to 2 and to 40 subscribers', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 8, stories: 3 })
  const people = [host, ...voters]
  const join = async (count: number) => {
    const streams = Array.from({ length: count }, (_, at) =>
      openRoomStream({
        url: `${world.app.url}/graphql`,
        token: people[at % people.length]!.client.token!,
        query: STATE,
        variables: { roomId: room.id },
      }),
    )
    open.push(...streams)
    await Promise.all(streams.map((stream) => stream.next(is('RoomSnapshot'))))
    return streams
  }
  const settle = () => new Promise((resolve) => setTimeout(resolve, 600)) // presence of those who joined, polling aside
  const costOfVote = async (card: string) => {
    await settle()
    statements.length = 0
    const { version } = (await voters[0]!.vote(room, card))['room']
    await Promise.all(open.map((stream) => stream.next((event) => event.version === version)))
    await settle()
    return statements.filter((text) => ABOUT_STATE.test(text)).length
  }

  await join(2)
  const withTwo = await costOfVote('1')
  await join(38)
  const withForty = await costOfVote('2')
  expect(withTwo).toBeGreaterThan(0)
  expect(withForty).toBeLessThanOrEqual(withTwo + 4) // the pace of polling may add a look
})

it('ROOM-173 reads one state for all who come back at once', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 4, stories: 3 })
  const people = [host, ...voters]
  for (const person of people) await world.attend(room, person)
  statements.length = 0
  const streams = Array.from({ length: 60 }, (_, at) =>
    openRoomStream({
      url: `${world.app.url}/graphql`,
      token: people[at % people.length]!.client.token!,
      query: STATE,
      variables: { roomId: room.id },
    }),
  )
  open.push(...streams)
  await Promise.all(streams.map((stream) => stream.next(is('RoomSnapshot'))))
  const stories = statements.filter((text) => text.includes('"rooms"."stories"')).length
  expect(stories).toBeGreaterThan(0)
  expect(stories).toBeLessThan(25) // arrivals share what is under way; were it by heads there would be 60 and more
})

it('ROOM-173 asks nothing about a room for whoever comes back to it one after the other: what they missed is there', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 3 })
  const query = `subscription ($roomId: ID!, $sinceVersion: BigInt) {
    roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) { __typename version actor { id } } }`
  const follow = (person: { client: { token?: string | undefined } }, more: object = {}) => {
    const variables = { roomId: room.id, ...more }
    const stream = openRoomStream({ url: `${world.app.url}/graphql`, token: person.client.token!, query, variables })
    open.push(stream)
    return stream
  }
  const watch = follow(host)
  const { version } = await watch.next(is('RoomSnapshot'))
  for (const voter of voters) await voter.vote(room, '5')
  await watch.next((event) => Number(event.version) === Number(version) + voters.length)

  const returns = 40
  const began = performance.now()
  statements.length = 0
  for (let turn = 0; turn < returns; turn++) {
    const back = follow(voters[turn % voters.length]!, { sinceVersion: version })
    await back.next((event) => Number(event.version) === Number(version) + voters.length)
    expect(back.versions()).toEqual(voters.map((_, at) => Number(version) + at + 1))
    expect(back.events.some(is('RoomSnapshot'))).toBe(false)
    back.close()
  }
  const reads = statements.filter((text) => text.includes('SELECT rooms.room_viewers')).length
  // Who is present is looked at four times a second at most, however many come.
  expect(reads).toBeLessThanOrEqual((4 * (performance.now() - began)) / 1_000 + 2)
})

it('ROOM-173 renders a reveal once for all, its cards included, and asks for nobody’s standing', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 4 })
  const people = [host, ...voters]
  const streams = Array.from({ length: 30 }, (_, at) =>
    openRoomStream({
      url: `${world.app.url}/graphql`,
      token: people[at % people.length]!.client.token!,
      query: `subscription ($roomId: ID!) { roomEvents(roomId: $roomId) { __typename version
        ... on VoteCast { userId } ... on RoundRevealed { votes { userId card } } } }`,
      variables: { roomId: room.id },
    }),
  )
  open.push(...streams)
  await Promise.all(streams.map((stream) => stream.next(is('RoomSnapshot'))))
  await new Promise((resolve) => setTimeout(resolve, 600)) // presence of those who joined
  const rendered = () => metricOf(world.app.url, 'moothall_frames_rendered_total')
  const before = await rendered()
  statements.length = 0
  await voters[0]!.vote(room, '5')
  await host.reveal(room)
  const reveals = await Promise.all(streams.map((stream) => stream.next(is('RoundRevealed'))))

  for (const { votes } of reveals) expect(votes).toEqual([{ userId: voters[0]!.id, card: '5' }])
  expect(await rendered()).toBeLessThanOrEqual(before + 3) // vote, reveal, and one list of who is present
  expect(statements.filter((text) => text.includes('preauth_standings'))).toEqual([])
})

it('ROOM-174 leaves nothing behind: 200 streams opened and broken off at any moment', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 3 })
  for (const stream of open.splice(0)) stream.close()
  await vi.waitFor(() => expect(openRoomStreams()).toBe(0), 10_000)
  await world.sql('DELETE FROM rooms.room_presence')

  const people = [host, ...voters]
  for (let round = 0; round < 20; round++) {
    const streams = Array.from({ length: 10 }, (_, at) =>
      openRoomStream({
        url: `${world.app.url}/graphql`,
        token: people[at % people.length]!.client.token!,
        variables: { roomId: room.id },
      }),
    )
    await Promise.all(
      streams.map(async (stream, at) => {
        if (at % 3 === 0) await stream.next(is('RoomSnapshot'))
        else await new Promise((resolve) => setTimeout(resolve, at * 4))
        stream.close()
      }),
    )
  }
  await vi.waitFor(async () => {
    expect(openRoomStreams()).toBe(0)
    expect(await world.sql('SELECT FROM rooms.room_presence')).toEqual([])
  }, 15_000)
}, 60_000)
