import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, FIBONACCI, uuidOf, type World } from '../support/world.ts'
import { reset, roundSeenBy } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const revealedEvents = async (room: TestRoom) =>
  (await world.events(room)).filter(({ type }) => type === 'RoundRevealed').map(({ payload }) => payload)

it('ROOM-72 reveals the votes and their result to everybody in the room', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 3 })
  for (const [at, voter] of voters.entries()) await voter.vote(room, ['3', '5', '?'][at]!)

  expect(await host.reveal(room)).toMatchObject({ room: { poker: { revealed: true } } })
  const expected = new Map(voters.map(({ id }, at) => [id, ['3', '5', '?'][at]!]))
  for (const viewer of [host, voters[0]!, await world.guest(room), await world.viewer()]) {
    expect(await roundSeenBy(viewer, room)).toMatchObject({ revealed: true, cards: expected, counted: 2 })
  }

  const [told] = await revealedEvents(room)
  expect(told).toEqual({
    storyId: uuidOf(room.round.storyId),
    roundVersion: room.round.roundVersion,
    reason: 'MANUAL',
    votes: voters.map(({ userId }, at) => ({ userId, card: ['3', '5', '?'][at] })),
    result: expect.objectContaining({ counted: 2, average: 4, mode: ['3', '5'], consensus: false }),
  })
  const [fact] = await world.sql(
    `SELECT payload, category, deliverable, space_id, room_id FROM platform.audit_events
     WHERE room_id = $1 AND event_type = 'round.revealed'`,
    [room.uuid],
  )
  expect(fact).toEqual({
    payload: {
      storyId: uuidOf(room.round.storyId),
      roundVersion: room.round.roundVersion,
      reason: 'MANUAL',
      counted: 2,
      average: 4,
      mode: ['3', '5'],
      consensus: false,
    },
    category: 'activity',
    deliverable: true,
    space_id: uuidOf(room.spaceId),
    room_id: room.uuid,
  })
})

it('ROOM-72 reveals without votes, and once', async () => {
  const { room, host } = await world.pokerRoom()
  expect(await host.reveal(room)).toMatchObject({
    room: { poker: { revealed: true, currentStory: { votes: [], result: { counted: 0 } } } },
  })
  expect(await changes(world, room, () => host.reveal(room))).toBe(false)
  expect(await host.reveal(room)).toMatchObject({ __typename: 'RoomRevealPayload' })
  expect(await revealedEvents(room)).toHaveLength(1)
})

it('ROOM-72 refuses another round’s version, and an empty table', async () => {
  const { room, host } = await world.pokerRoom()
  const { roundVersion } = room.round
  for (const other of ['0', String(BigInt(roundVersion) + 1n)]) {
    expect(await host.reveal(room, { roundVersion: other })).toMatchObject({
      code: 'ROUND_CLOSED',
      roundVersion,
      revealed: false,
    })
  }
  await reset(host, room)
  expect(await host.reveal(room, { roundVersion })).toMatchObject({ code: 'ROUND_CLOSED' })

  await world.sql('UPDATE rooms.rooms SET current_story_id = NULL WHERE id = $1', [room.uuid])
  const empty = { roundVersion: (await roundSeenBy(host, room)).roundVersion }
  expect(await host.reveal(room, empty)).toMatchObject({ code: 'ROUND_CLOSED', revealed: false })
  expect(await revealedEvents(room)).toEqual([])
})

it('ROOM-74 results come out of the API as they are computed, by deck', async () => {
  const SELECTION = `poker { currentStory { result {
    counted distribution { card count } average mode min max consensus suggested } } }`
  const result = async (setup: { cards: readonly string[]; ordinal?: boolean }, cards: string[]) => {
    const { room, host, voters } = await world.pokerRoom({ ...setup, voters: cards.length })
    await Promise.all(voters.map((voter, at) => voter.vote(room, cards[at]!)))
    expect((await host.room(room, SELECTION)).poker.currentStory.result).toBeNull()
    await host.reveal(room)
    return (await host.room(room, SELECTION)).poker.currentStory.result
  }

  expect(await result({ cards: ['☕', '½', '1', '2', '3', '?'] }, ['½', '1', '1', '3', '☕'])).toEqual({
    counted: 4,
    distribution: [
      { card: '½', count: 1 },
      { card: '1', count: 2 },
      { card: '2', count: 0 },
      { card: '3', count: 1 },
      { card: '☕', count: 1 },
      { card: '?', count: 0 },
    ],
    average: 1.38, // 1.375, half up
    mode: ['1'],
    min: '½',
    max: '3',
    consensus: false,
    suggested: '1',
  })
  expect(await result({ cards: ['XS', 'S', 'M', '?'], ordinal: true }, ['M', 'M', 'XS'])).toMatchObject({
    counted: 3,
    average: null,
    mode: ['M'],
    min: 'XS',
    max: 'M',
    suggested: 'M',
  })
  expect(await result({ cards: FIBONACCI }, ['5', '5', '☕'])).toMatchObject({ consensus: true, average: 5 })
  expect(await result({ cards: FIBONACCI }, ['5', '5', '?'])).toMatchObject({ consensus: false })
})

it('ROOM-73 the vote that completes a round reveals it, once, when the last votes come together', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 3, autoReveal: true })
  const everybody = [host, ...voters]
  for (let run = 1; run <= 20; run++) {
    const casts = await Promise.all(everybody.map((voter, at) => voter.vote(room, FIBONACCI[at]!)))
    expect(casts.map(({ __typename }) => __typename)).toEqual(everybody.map(() => 'VoteCastPayload'))

    const revealed = await revealedEvents(room)
    expect(revealed).toHaveLength(run)
    expect(revealed.at(-1)).toMatchObject({ reason: 'AUTO', roundVersion: room.round.roundVersion })
    expect(revealed.at(-1)!['votes']).toHaveLength(4)
    expect(await roundSeenBy(host, room)).toMatchObject({ revealed: true, counted: 4 })
    await reset(host, room)
  }
})

it('ROOM-3 the vote that completes a round takes two versions and two facts', async () => {
  const { room, host } = await world.pokerRoom({ autoReveal: true })
  const before = BigInt((await host.room(room)).version)
  const answer: Outcome = await host.vote(room, '5')

  expect(answer).toMatchObject({ myCard: '5', room: { version: String(before + 2n) } })
  expect((await world.events(room)).map(({ version, type }) => [version, type])).toEqual([
    [String(before + 1n), 'VoteCast'],
    [String(before + 2n), 'RoundRevealed'],
  ])
  expect(await world.facts({ room })).toEqual(['vote.cast', 'round.revealed'])
})

it('ROOM-66 waits for the present voters only: not for spectators, the absent or those whose sign of life is old', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 2, autoReveal: true })
  await world.attend(room, await world.member({ spectator: true }))
  await world.attend(room, await world.viewer())
  await world.attend(room, await world.member(), 46)
  await world.depart(room, voters[1]!)
  expect(
    (await host.room(room, 'poker { waitingFor { id } }')).poker.waitingFor.map(({ id }: Actor) => id).sort(),
  ).toEqual([host.id, voters[0]!.id].sort())

  // Somebody absent may vote, and completes nothing that others are waited for in.
  await voters[1]!.vote(room, '8')
  await voters[0]!.vote(room, '5')
  expect(await roundSeenBy(host, room)).toMatchObject({ revealed: false })
  await host.vote(room, '5')
  expect(await roundSeenBy(host, room)).toMatchObject({ revealed: true, counted: 3 })
})

it('ROOM-66 a guest’s vote completes a round only when the members waited for have voted too', async () => {
  const { room, host } = await world.pokerRoom({ autoReveal: true })
  const guest = await world.guest(room)
  await world.attend(room, guest)

  await guest.vote(room, '5')
  expect(await roundSeenBy(host, room)).toMatchObject({ revealed: false })
  await reset(host, room)

  await host.vote(room, '3')
  expect(await roundSeenBy(host, room)).toMatchObject({ revealed: false })
  expect(await guest.vote(room, '5')).toMatchObject({ myCard: '5' })
  expect(await roundSeenBy(host, room)).toMatchObject({ revealed: true, counted: 2 })
  expect(await world.facts({ room })).toEqual(['vote.cast', 'round.reset', 'vote.cast', 'vote.cast', 'round.revealed'])
})

it('ROOM-66 a round with nobody to wait for never completes by itself', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1, autoReveal: true })
  await world.depart(room, host)
  await world.depart(room, voters[0]!)
  await host.vote(room, '5')
  await voters[0]!.vote(room, '5')
  expect(await roundSeenBy(host, room)).toMatchObject({ revealed: false })
})

it('ROOM-73 without autoReveal a complete round stays hidden until a host reveals it', async () => {
  const { room, host } = await world.pokerRoom()
  await host.vote(room, '5')
  expect(await roundSeenBy(host, room)).toMatchObject({ revealed: false })
})
