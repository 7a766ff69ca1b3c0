import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'
import { idsOf, lastEvents, next, open, TABLE } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const CONFIG = `room { ${TABLE} config { ... on PokerConfig { deckName cards autoReveal openVoting } } }`
const set = (person: Actor, room: TestRoom, change: object): Promise<Outcome> =>
  person.mutate('roomConfigSet', { roomId: room.id, change }, CONFIG)
const waitedFor = async (room: TestRoom): Promise<string[]> => {
  const rows = await world.sql<{ user_id: string }>(
    'SELECT user_id FROM rooms.round_voters WHERE room_id = $1 ORDER BY user_id',
    [room.uuid],
  )
  return rows.map(({ user_id }) => user_id)
}
const uuidsOf = (people: Actor[]) => people.map(({ userId }) => userId).sort()

it('ROOM-35 a host sets one of the two settings; the deck and the other one stay', async () => {
  const { room, host } = await world.pokerRoom({ cards: ['1', '2'], stories: 0 })
  const { version } = await host.room(room)
  const { room: changed } = await set(host, room, { autoReveal: true })
  const config = { deckName: 'Deck', cards: ['1', '2'], autoReveal: true, openVoting: false }
  expect(changed).toMatchObject({ version: next(version), config })
  expect(await world.events(room)).toMatchObject([
    {
      type: 'RoomChanged',
      payload: {
        title: 'Planning',
        config: { deck: { name: 'Deck', cards: ['1', '2'], ordinal: false }, autoReveal: true, openVoting: false },
      },
    },
  ])
  const facts = await world.sql(
    'SELECT event_type, category, deliverable, payload, target_id FROM platform.audit_events WHERE room_id = $1',
    [room.uuid],
  )
  expect(facts).toEqual([
    {
      event_type: 'room.config_set',
      category: 'audit_only',
      deliverable: false,
      payload: { setting: 'autoReveal', on: true },
      target_id: room.uuid,
    },
  ])
  expect((await set(host, room, { openVoting: true })).room.config).toEqual({ ...config, openVoting: true })
  expect((await set(host, room, { autoReveal: false })).room.config).toMatchObject({
    autoReveal: false,
    openVoting: true,
  })
})

it('ROOM-4, ROOM-35 what is set already changes nothing; one call sets one thing', async () => {
  const { room, host } = await world.pokerRoom({ openVoting: true })
  expect(
    await changes(world, room, async () => {
      expect(await set(host, room, { openVoting: true })).toMatchObject({ room: { config: { openVoting: true } } })
      expect(await set(host, room, { autoReveal: false })).toMatchObject({ room: { config: { autoReveal: false } } })
      for (const change of [{}, { autoReveal: true, openVoting: true }, { autoReveal: null }, { cards: ['1'] }]) {
        const { errors } = await host.attempt('roomConfigSet', { roomId: room.id, change })
        expect(errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }])
      }
    }),
  ).toBe(false)
})

it('ROOM-5, ROOM-33 a done room is set to nothing', async () => {
  const { room, host } = await world.pokerRoom()
  await host.mutate('roomEnd', { roomId: room.id })
  expect(
    await changes(world, room, async () => {
      expect(await set(host, room, { autoReveal: true })).toMatchObject({ code: 'ROOM_ENDED' })
    }),
  ).toBe(false)
})

it('ROOM-35, ROOM-67 open voting in an unrevealed round waits for those who take part now; turned off for who is present', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 2 })
  const watcher = await world.member({ spectator: true })
  await world.attend(room, watcher)
  await world.depart(room, voters[0]!)
  const { version } = await host.room(room)

  const on = await set(host, room, { openVoting: true })
  expect(await waitedFor(room)).toEqual(uuidsOf([host, ...voters]))
  expect(idsOf(on['room'].poker.waitingFor)).toEqual(idsOf([host, ...voters]))
  expect(await lastEvents(world, room, 2)).toMatchObject([
    { type: 'RoomChanged', version: next(version) },
    { type: 'RoundVotersChanged', version: next(version, 2n), payload: { waitingForIds: uuidsOf([host, ...voters]) } },
  ])

  const off = await set(host, room, { openVoting: false })
  expect(await waitedFor(room)).toEqual([])
  expect(idsOf(off['room'].poker.waitingFor)).toEqual(idsOf([host, voters[1]!]))
  expect(await lastEvents(world, room, 1)).toMatchObject([
    { type: 'RoundVotersChanged', payload: { waitingForIds: uuidsOf([host, voters[1]!]) } },
  ])
})

it('ROOM-35 a revealed round or an empty table has no list to take or to drop', async () => {
  const { room, host, stories } = await world.pokerRoom({ voters: 1, stories: 2, openVoting: true })
  await open(host, room, stories[1]!)
  const listed = await waitedFor(room)
  expect(listed).toHaveLength(2)
  await host.reveal(room)
  await set(host, room, { openVoting: false })
  expect(await waitedFor(room)).toEqual(listed)
  await open(host, room, stories[0]!)
  await host.reveal(room)
  await set(host, room, { openVoting: true })
  expect(await waitedFor(room)).toEqual(listed)
  expect((await lastEvents(world, room, 1))[0]).toMatchObject({ type: 'RoomChanged' })

  const { room: empty, host: other } = await world.pokerRoom({ stories: 0 })
  await set(other, empty, { openVoting: true })
  expect(await waitedFor(empty)).toEqual([])
  expect(await world.events(empty)).toMatchObject([{ type: 'RoomChanged' }])
})

it('ROOM-35 the list is of who takes part now, whatever a round before has left', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1, openVoting: true, space: await world.space() })
  await host.mutate('roomReset', { roomId: room.id })
  expect(await waitedFor(room)).toEqual(uuidsOf([host, ...voters]))
  await host.reveal(room, { roundVersion: next(room.round.roundVersion) })
  await set(host, room, { openVoting: false })
  await host.mutate('roomReset', { roomId: room.id }) // a closed round leaves the list alone (ROOM-68)
  await voters[0]!.mutate('spaceSpectatorSet', { id: room.spaceId, spectator: true })
  await set(host, room, { openVoting: true })
  expect(await waitedFor(room)).toEqual([host.userId])
})

it('ROOM-35, ROOM-66 a setting that completes the round reveals it', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  for (const voter of [host, ...voters]) await voter.vote(room, '5')
  const { room: shown } = await set(host, room, { autoReveal: true })
  expect(shown.poker).toMatchObject({ revealed: true, currentStory: { result: { counted: 2 } } })
  expect((await lastEvents(world, room, 2)).map(({ type }) => type)).toEqual(['RoomChanged', 'RoundRevealed'])
  expect((await world.facts({ room })).slice(-2)).toEqual(['room.config_set', 'round.revealed'])

  // Open voting waits for somebody who is away; without it, nobody is missing.
  const away = await world.pokerRoom({ voters: 1, autoReveal: true, openVoting: true })
  await away.host.mutate('roomReset', { roomId: away.room.id })
  await world.depart(away.room, away.voters[0]!)
  const { poker } = await away.host.room(away.room, TABLE)
  await away.host.vote(away.room, '5', { ...away.room.round, roundVersion: poker.roundVersion })
  expect((await away.host.room(away.room, TABLE)).poker.revealed).toBe(false)
  expect((await set(away.host, away.room, { openVoting: false })).room.poker.revealed).toBe(true)
})

it('ROOM-66 a setting does not reveal a round that somebody is missing in, or one without a vote', async () => {
  const { room, host } = await world.pokerRoom({ voters: 1 })
  expect((await set(host, room, { autoReveal: true })).room.poker.revealed).toBe(false)
  await host.vote(room, '5')
  await set(host, room, { autoReveal: false })
  expect((await set(host, room, { autoReveal: true })).room.poker.revealed).toBe(false)
})

it('ROOM-35, ROOM-71 open voting is toggled while all vote: no vote is lost, and the round reveals itself once', async () => {
  for (let run = 0; run < 8; run++) {
    const { room, host, voters } = await world.pokerRoom({ voters: 4, autoReveal: true })
    const toggles = async () => {
      for (const openVoting of [true, false, true, false]) await set(host, room, { openVoting })
    }
    const casts = [host, ...voters].map((voter, at) => voter.vote(room, at % 2 ? '5' : '8'))
    const [, ...cast] = await Promise.all([toggles(), ...casts])
    const acknowledged = cast.filter(({ code }) => !code)
    expect(cast.filter(({ code }) => code).every(({ code }) => code === 'ROUND_CLOSED')).toBe(true)

    const { poker } = await host.room(room, TABLE)
    expect(poker).toMatchObject({ revealed: true, currentStory: { result: { counted: acknowledged.length } } })
    expect(acknowledged).toHaveLength(5)
    const events = await world.events(room)
    expect(events.filter(({ type }) => type === 'RoundRevealed')).toHaveLength(1)
    const versions = events.map(({ version }) => BigInt(version))
    expect(versions).toEqual(versions.map((_, at) => versions[0]! + BigInt(at)))
  }
})

it('ROOM-35, ROOM-172 everybody in the room hears of it, and whom the round waits for then', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const guest = await world.guest(room)
  const query = `subscription ($roomId: ID!) { roomEvents(roomId: $roomId) { __typename version
    ... on RoomChanged { title config { ... on PokerConfig { openVoting autoReveal } } }
    ... on RoundVotersChanged { waitingForIds } } }`

  const streams = [voters[0]!, guest].map(({ client }) =>
    openRoomStream({ url: `${world.app.url}/graphql`, token: client.token!, variables: { roomId: room.id }, query }),
  )
  for (const stream of streams) await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
  await set(host, room, { openVoting: true })
  for (const stream of streams) {
    expect(await stream.next(({ __typename }) => __typename === 'RoomChanged')).toMatchObject({
      title: 'Planning',
      config: { openVoting: true, autoReveal: false },
    })
    const { waitingForIds } = await stream.next(({ __typename }) => __typename === 'RoundVotersChanged')
    expect(waitingForIds).toEqual(expect.arrayContaining(idsOf([host, voters[0]!])))
    stream.close()
  }
})
