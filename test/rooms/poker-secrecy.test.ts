import { afterAll, beforeAll, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { createWorld, type World } from '../support/world.ts'
import { open } from './poker-table.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp({ MOOTHALL_LOG_LEVEL: 'trace' }))
})
afterAll(() => world.close())

/** A card that stands nowhere else; the deck itself is not asked for, since it names all cards. */
const SECRET = 'thirteen-secret'
const CARDS = ['one', SECRET, '?']

const STORY = `id title notes ref position estimate quick revealedAt createdAt
  votes { card userId user { id displayName } }
  result { counted distribution { card count } average mode min max consensus suggested }`
const ROOM = `id title phase version kind endedAt createdAt serverNow presentUserIds timer { startedAt endsAt onEnd }
  space { id slug } facilitator { id } cofacilitators { id }
  participants { user { id } guest spectator cofacilitator present joinedAt }
  poker { roundVersion revealed myCard votedUserIds waitingFor { id } currentStory { ${STORY} } stories { ${STORY} } }`

/** The answers as text, which tells something only if the server took the questions. */
function asked(answers: Answer[]): string {
  const text = JSON.stringify(answers)
  for (const code of ['GRAPHQL_VALIDATION_FAILED', 'QUERY_TOO_COMPLEX', 'INTERNAL']) expect(text).not.toContain(code)
  return text
}

type Hidden = { room: TestRoom; host: Actor; voter: Actor; others: Actor[] }

/** A hidden round with one secret vote, and everybody else who could look. */
async function hiddenRound(): Promise<Hidden> {
  const { room, host, voters } = await world.pokerRoom({ voters: 2, cards: CARDS, ordinal: true, stories: 2 })
  const [voter, member] = voters as [Actor, Actor]
  expect(await voter.vote(room, SECRET)).toMatchObject({ myCard: SECRET })
  const others = [
    host,
    member,
    world.owner,
    await world.member({ role: 'admin' }),
    await world.member({ spectator: true }),
    await world.viewer(),
    await world.anonymous(),
    await world.embedded(host),
    await world.guest(room),
    await world.guest((await world.pokerRoom()).room),
    await world.outsider(),
    await world.otherOrg(),
    await world.member({ role: 'admin', space: null }),
  ]
  return { room, host, voter, others }
}

it('ROOM-75 a hidden card is in no query’s answer but its voter’s', async () => {
  const { room, voter, others } = await hiddenRound()
  const ask = async (viewer: Actor) => {
    const nodes = [room.id, room.round.storyId, voter.id, room.spaceId]
    const answers = [
      await viewer.send(`query ($id: ID!) { room(id: $id) { ${ROOM} } }`, { id: room.id }),
      // One by one: all at once would be too complex for a guest.
      ...(await Promise.all(
        nodes.map((id) =>
          viewer.send(
            `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Room { ${ROOM} } ... on Story { ${STORY} } ... on User { id } } }`,
            { ids: [id] },
          ),
        ),
      )),
      await viewer.send(`query ($id: ID!) { node(id: $id) { ... on Story { ${STORY} } } }`, { id: room.round.storyId }),
      await viewer.send(
        `{ auditEvents(first: 50) { edges { node { type payload target { ... on Story { ${STORY} } } } } } }`,
      ),
      await viewer.send('{ auditFeed(first: 100) { items { event { type payload } } } }'),
      await viewer.send('query ($id: ID!) { roomCsv(roomId: $id) }', { id: room.id }),
    ]
    return asked(answers)
  }
  for (const viewer of others) expect(await ask(viewer)).not.toContain(SECRET)
  expect(await ask(voter)).toContain(SECRET)
})

it('ROOM-75 others learn that somebody voted, and of no result', async () => {
  const { room, voter, others } = await hiddenRound()
  const [host, member, , , spectator] = others
  for (const viewer of [host!, member!, spectator!]) {
    const { poker } = await viewer.room(room, `poker { votedUserIds myCard currentStory { ${STORY} } }`)
    expect(poker).toMatchObject({
      votedUserIds: [voter.id],
      myCard: null,
      currentStory: { votes: [{ userId: voter.id, card: null }], result: null, revealedAt: null },
    })
  }
})

it('ROOM-75 a hidden card is in no answer to a mutation, granted or refused', async () => {
  const { room, voter, others } = await hiddenRound()
  const { storyId, roundVersion } = room.round
  const payload = `room { ${ROOM} }`
  const withStory = `${payload} story { ${STORY} }`
  for (const viewer of others) {
    const answers = [
      await viewer.attempt('storyAdd', { roomId: room.id, title: 'T' }, withStory),
      await viewer.attempt('storyAdd', { roomId: room.id }, withStory),
      await viewer.attempt('storyUpdate', { id: storyId, notes: viewer.id }, withStory),
      await viewer.attempt('storyMove', { id: storyId, afterId: null }, withStory),
      await viewer.attempt('storyEstimate', { id: storyId, estimate: '?' }, withStory),
      await viewer.attempt('roomSelect', { roomId: room.id, storyId }, payload),
      await viewer.attempt('roomReveal', { roomId: room.id, roundVersion: '99' }, payload),
      await viewer.attempt('storyImport', { roomId: room.id, csv: `title,ref\nT,${viewer.id}` }, payload),
      await viewer.attempt('storyImport', { roomId: room.id, csv: 'title,estimate\nT,none' }, payload),
      await viewer.attempt('roomConfigSet', { roomId: room.id, change: { openVoting: true } }, payload),
      await viewer.attempt('roomConfigSet', { roomId: room.id, change: { openVoting: false } }, payload),
      await viewer.attempt('roomFacilitatorHandOver', { roomId: room.id, userId: viewer.id }, payload),
      await viewer.attempt('roomCofacilitatorSet', { roomId: room.id, userId: voter.id, on: true }, payload),
      await viewer.attempt('voteClear', { roomId: room.id, storyId, roundVersion }, payload),
      await viewer.attempt('voteCast', { roomId: room.id, storyId, roundVersion, card: 'none' }, payload),
      await viewer.attempt('voteCast', { roomId: room.id, storyId, roundVersion: '99', card: 'one' }, payload),
    ]
    expect(asked(answers)).not.toContain(SECRET)
    // Their own same card is theirs to know, and tells them nothing of another's.
    const own = await viewer.attempt('voteCast', { roomId: room.id, storyId, roundVersion, card: SECRET }, payload)
    const shown = own.data?.voteCast?.room?.poker.currentStory.votes ?? []
    const cards = shown.filter(({ userId }: { userId: string }) => userId !== viewer.id)
    expect(cards.every(({ card }: { card: string | null }) => card === null)).toBe(true)
    await viewer.attempt('voteClear', { roomId: room.id, storyId, roundVersion })
  }
  expect((await voter.room(room, 'poker { myCard }')).poker.myCard).toBe(SECRET)
})

it('ROOM-8, ROOM-75 a card stands in no event, no record and no log line, hidden votes off the table included', async () => {
  const { room, host, voter } = await hiddenRound()
  await open(host, room, encodeId('Story', await otherStory(room)))
  await voter.vote(room, '?')
  await voter.vote(room, SECRET)
  const stored = await world.sql(
    // A changed setting is told with the deck, which names every card.
    `SELECT to_jsonb(e) #- '{payload,config,deck}' AS row FROM rooms.room_events AS e
     UNION ALL SELECT to_jsonb(a) FROM platform.audit_events AS a`,
  )
  expect(stored.length).toBeGreaterThan(3)
  expect(JSON.stringify(stored)).not.toContain(SECRET)

  // Revealed, the cards are in the room's event; no log line ever holds one.
  await host.reveal(room)
  expect(JSON.stringify(await world.events(room))).toContain(SECRET)
  await host.mutate('roomReset', { roomId: room.id })
  expect(world.app.log()).not.toBe('')
  expect(world.app.log()).not.toContain(SECRET)
})

it('ROOM-75 a revealed round tells no card of the next one', async () => {
  const { room, host, voter } = await hiddenRound()
  await host.reveal(room)
  await open(host, room, encodeId('Story', await otherStory(room)))
  await voter.vote(room, SECRET)
  const { poker } = await host.room(room, `poker { currentStory { ${STORY} } stories { ${STORY} } }`)
  expect(JSON.stringify(poker.currentStory)).not.toContain(SECRET)
  expect(poker.stories.map(({ votes }: { votes: { card: string | null }[] }) => votes[0]?.card)).toEqual([SECRET, null])
})

async function otherStory(room: TestRoom): Promise<string> {
  const [story] = await world.sql<{ id: string }>(
    `SELECT s.id FROM rooms.stories AS s JOIN rooms.rooms AS r ON r.id = s.room_id
     WHERE r.id = $1 AND s.id <> r.current_story_id`,
    [room.uuid],
  )
  return story!.id
}
