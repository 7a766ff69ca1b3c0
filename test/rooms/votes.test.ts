import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, Outcome, Round, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { changes, traceOf } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const CLOSED = '... on RoundClosedError { roundVersion revealed }'

function clearVote(voter: Actor, room: TestRoom, round: Round = room.round): Promise<Outcome> {
  return voter.mutate('voteClear', { roomId: room.id, ...round }, 'room { version poker { myCard } }', CLOSED)
}

/** The cards in a room as the database has them. */
async function cardsIn(room: TestRoom): Promise<string[]> {
  const rows = await world.sql<{ card: string }>('SELECT card FROM rooms.votes WHERE room_id = $1 ORDER BY cast_at', [
    room.uuid,
  ])
  return rows.map(({ card }) => card)
}

async function roomWithVoter(setup: Parameters<World['pokerRoom']>[0] = {}) {
  const { voters, ...rest } = await world.pokerRoom({ voters: 1, ...setup })
  return { ...rest, voter: voters[0]! }
}

it('ROOM-69 casts a vote and replaces it: one version, one event and one fact each time', async () => {
  const { room, voter } = await roomWithVoter()
  const before = BigInt((await voter.room(room)).version)

  expect(await voter.vote(room, '5')).toMatchObject({ room: { version: String(before + 1n) }, myCard: '5' })
  expect(await voter.vote(room, '8')).toMatchObject({ room: { version: String(before + 2n) }, myCard: '8' })

  expect(await cardsIn(room)).toEqual(['8'])
  const cast = { storyId: uuidOf(room.round.storyId), roundVersion: room.round.roundVersion, userId: voter.userId }
  expect(await world.events(room)).toEqual([
    { version: String(before + 1n), type: 'VoteCast', payload: cast },
    { version: String(before + 2n), type: 'VoteCast', payload: cast },
  ])
  expect(await world.facts({ room })).toEqual(['vote.cast', 'vote.cast'])
})

it('ROOM-4 the same card again is no change', async () => {
  const { room, voter } = await roomWithVoter()
  const first = await voter.vote(room, '5')

  expect(await changes(world, room, () => voter.vote(room, '5'))).toBe(false)
  expect(await voter.vote(room, '5')).toEqual(first)
})

it('ROOM-70 takes a vote back, once', async () => {
  const { room, voter } = await roomWithVoter()
  await voter.vote(room, '5')

  expect(await clearVote(voter, room)).toMatchObject({ room: { poker: { myCard: null } } })
  expect(await cardsIn(room)).toEqual([])
  expect((await world.events(room)).at(-1)).toMatchObject({ type: 'VoteCleared', payload: { userId: voter.userId } })
  expect(await world.facts({ room })).toEqual(['vote.cast', 'vote.cleared'])

  expect(await changes(world, room, () => clearVote(voter, room))).toBe(false)
})

it('ROOM-69 takes cards of the deck alone, in their one spelling', async () => {
  const { room, voter } = await roomWithVoter({ cards: ['1/2', '1', 'é'], ordinal: true })
  for (const card of ['0.5', '½', '2', 'E', '?']) {
    expect(await voter.vote(room, card)).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'card'], message: 'is no card of the deck' }],
    })
  }
  // NFC and trimmed first (ROOM-7).
  expect(await voter.vote(room, ' e\u0301 ')).toMatchObject({ myCard: 'é' })
  expect(await cardsIn(room)).toEqual(['é'])
})

it('ROOM-69 refuses a stale round, a later one, a story off the table and an empty table, and says what is on it', async () => {
  const { room, voter, stories } = await roomWithVoter({ stories: 2 })
  const { roundVersion } = room.round
  const stale = { code: 'ROUND_CLOSED', roundVersion, revealed: false }
  for (const other of ['0', '-1', String(BigInt(roundVersion) + 1n), '9223372036854775807']) {
    expect(await voter.vote(room, '5', { ...room.round, roundVersion: other })).toMatchObject(stale)
    expect(await clearVote(voter, room, { ...room.round, roundVersion: other })).toMatchObject(stale)
  }
  expect(await voter.vote(room, '5', { storyId: stories[1]!, roundVersion })).toMatchObject(stale)

  await world.sql('UPDATE rooms.rooms SET current_story_id = NULL WHERE id = $1', [room.uuid])
  const empty = { storyId: stories[0]!, roundVersion: String(BigInt(roundVersion) + 1n) }
  expect(await voter.vote(room, '5', empty)).toMatchObject({
    code: 'ROUND_CLOSED',
    roundVersion: empty.roundVersion,
    revealed: false,
  })
  expect(await cardsIn(room)).toEqual([])
})

it('ROOM-69 refuses votes once the round is revealed', async () => {
  const { room, voter, host } = await roomWithVoter()
  await voter.vote(room, '5')
  await host.reveal(room)

  const closed = { code: 'ROUND_CLOSED', roundVersion: room.round.roundVersion, revealed: true }
  const before = await traceOf(world, room)
  expect(await voter.vote(room, '8')).toMatchObject(closed)
  expect(await voter.vote(room, '5')).toMatchObject(closed)
  expect(await clearVote(voter, room)).toMatchObject(closed)
  expect(await traceOf(world, room)).toEqual(before)
})

it('ROOM-69 a vote that the database refuses by itself is a closed round too', async () => {
  const { room, voter } = await roomWithVoter()
  // Revealed behind the room's back, so that only the trigger knows.
  await world.sql('UPDATE rooms.stories SET revealed_at = now() WHERE id = $1', [uuidOf(room.round.storyId)])
  expect(
    await changes(world, room, async () => {
      expect(await voter.vote(room, '5')).toMatchObject({ code: 'ROUND_CLOSED', roundVersion: null, revealed: null })
    }),
  ).toBe(false)
})

it('ROOM-69 guests and members vote; spectators and org viewers do not', async () => {
  const { room, voter } = await roomWithVoter()
  const spectator = await world.member({ spectator: true })
  const viewer = await world.viewer()
  const embeddedViewer = await world.embedded(await world.viewer())
  for (const watching of [spectator, viewer, embeddedViewer]) {
    expect(await watching.vote(room, '5')).toMatchObject({ code: 'FORBIDDEN' })
    expect(await clearVote(watching, room)).toMatchObject({ code: 'FORBIDDEN' })
  }

  const others = [voter, await world.guest(room), await world.anonymous(), await world.embedded(await world.member())]
  for (const voting of others) expect(await voting.vote(room, '3')).toMatchObject({ myCard: '3' })
  expect(await cardsIn(room)).toEqual(['3', '3', '3', '3'])
})

it('ROOM-71 twenty casts of one voter at once leave one vote and as many versions as changes', async () => {
  const { room, voter } = await roomWithVoter()
  const before = BigInt((await voter.room(room)).version)
  const cards = Array.from({ length: 20 }, (_, at) => ['1', '2', '3'][at % 3]!)
  const answers = await Promise.all(cards.map((card) => voter.vote(room, card)))

  expect(answers.every(({ __typename }) => __typename === 'VoteCastPayload')).toBe(true)
  const events = await world.events(room)
  expect(events.map(({ version }) => BigInt(version))).toEqual(events.map((_, at) => before + BigInt(at) + 1n))
  expect(await world.facts({ room })).toEqual(events.map(() => 'vote.cast'))
  expect((await voter.room(room)).version).toBe(events.at(-1)!.version)
  expect(await cardsIn(room)).toHaveLength(1)
})
