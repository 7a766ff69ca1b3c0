import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { idsOf, next, TABLE } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const STORY = 'id title notes ref position estimate quick revealedAt'
const quickVote = (person: Actor, room: TestRoom): Promise<Outcome> =>
  person.mutate(
    'roomQuickVote',
    { roomId: room.id },
    `room { ${TABLE} } story { ${STORY} }`,
    '... on LimitReachedError { limit }',
  )
const rename = (person: Actor, id: string, text: object): Promise<Outcome> =>
  person.mutate('storyUpdate', { id, ...text }, `story { ${STORY} }`)

it('ROOM-65 adds a story that nobody named and puts it on the table, in a new round', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await host.vote(room, '5')
  await host.mutate('roomTimerStart', { roomId: room.id, seconds: 60, onEnd: 'REVEAL' })
  const { version } = await host.room(room)
  const opened = await quickVote(host, room)
  const { story, room: seen } = opened as Outcome
  expect(story).toEqual({
    id: expect.stringMatching(/^sty_/),
    title: 'Quick vote 1',
    notes: '',
    ref: '',
    position: 2048,
    estimate: null,
    quick: true,
    revealedAt: null,
  })
  expect(seen).toMatchObject({
    timer: null,
    poker: {
      roundVersion: next(room.round.roundVersion),
      revealed: false,
      votedUserIds: [],
      currentStory: { id: story.id },
    },
  })
  expect(idsOf(seen.poker.waitingFor)).toEqual(idsOf([host, ...voters]))
  expect((await world.events(room)).slice(-3)).toMatchObject([
    { type: 'TimerChanged', version: next(version) },
    {
      type: 'StoryAdded',
      version: next(version, 2n),
      payload: { story: { id: uuidOf(story.id), title: 'Quick vote 1', quick: true } },
    },
    { type: 'RoundOpened', version: next(version, 3n), payload: { storyId: uuidOf(story.id), revealed: false } },
  ])
  expect((await world.facts({ room })).slice(-3).sort()).toEqual(
    ['room.timer_set', 'round.opened', 'story.added'].sort(),
  )

  const voted = await voters[0]!.vote(room, '8', { storyId: story.id, roundVersion: seen.poker.roundVersion })
  expect(voted).toMatchObject({ myCard: '8' })
})

it('ROOM-65 numbers them on, also when two are opened at once; a name in use is left out', async () => {
  const { room, host } = await world.pokerRoom({ stories: 0 })
  const both = await Promise.all([quickVote(host, room), quickVote(host, room)])
  expect(both.map(({ story }) => story.title).sort()).toEqual(['Quick vote 1', 'Quick vote 2'])
  await host.mutate('storyAdd', { roomId: room.id, title: 'Quick vote 7' })
  await host.mutate('storyAdd', { roomId: room.id, title: `Quick vote ${'9'.repeat(40)}` })
  await host.mutate('storyAdd', { roomId: room.id, title: 'Quick vote no' })
  expect((await quickVote(host, room)).story.title).toBe('Quick vote 8')
  const { room: other, host: there } = await world.pokerRoom()
  expect((await quickVote(there, other)).story.title).toBe('Quick vote 1')
})

it('ROOM-65 a title or a ref makes it an ordinary story; notes and an estimate do not', async () => {
  const { room, host } = await world.pokerRoom({ stories: 0 })
  const [titled, referred, noted] = await Promise.all([1, 2, 3].map(async () => (await quickVote(host, room)).story))
  expect(await rename(host, titled.id, { title: 'Sign in' })).toMatchObject({
    story: { title: 'Sign in', quick: false },
  })
  expect(await rename(host, referred.id, { ref: 'AB-1' })).toMatchObject({
    story: { title: referred.title, ref: 'AB-1', quick: false },
  })
  expect(await rename(host, noted.id, { notes: 'Later' })).toMatchObject({ story: { notes: 'Later', quick: true } })
  await host.mutate('storyEstimate', { id: noted.id, estimate: '5' })
  expect(
    (await world.events(room)).filter(({ type }) => type === 'StoryChanged').map(({ payload }) => payload),
  ).toMatchObject([{ story: { quick: false } }, { story: { quick: false } }, { story: { quick: true } }])
  expect(await changes(world, room, () => rename(host, noted.id, { title: noted.title, ref: '' }))).toBe(false)
  // Once ordinary it stays so.
  expect(await rename(host, titled.id, { title: 'Quick vote 1' })).toMatchObject({ story: { quick: false } })
})

it('ROOM-65, ROOM-67 with open voting it waits for those who take part', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1, openVoting: true, stories: 0 })
  await world.depart(room, voters[0]!)
  const { room: seen } = await quickVote(host, room)
  expect(idsOf(seen.poker.waitingFor)).toEqual(idsOf([host, ...voters]))
})

it('ROOM-58 a full room takes none, and the table stays', async () => {
  const { room, host } = await world.pokerRoom()
  await world.sql(
    `INSERT INTO rooms.stories (org_id, room_id, title, position)
     SELECT $1, $2, 'Story ' || n, n * 1024 FROM generate_series(2, 500) AS n`,
    [room.orgId, room.uuid],
  )
  expect(
    await changes(world, room, async () => {
      expect(await quickVote(host, room)).toMatchObject({ code: 'LIMIT_REACHED', limit: 500 })
    }),
  ).toBe(false)
})

it('ROOM-5, ROOM-6, ROOM-22, ROOM-40 is for hosts of a room that goes on', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const refused: [Actor, string][] = [
    [voters[0]!, 'FORBIDDEN'],
    [world.owner, 'FORBIDDEN'],
    [await world.viewer(), 'FORBIDDEN'],
    [await world.agent(), 'FORBIDDEN'],
    [await world.guest(room), 'FORBIDDEN'],
    [await world.embedded(host), 'FORBIDDEN'],
    [await world.outsider(), 'NOT_FOUND'],
    [await world.otherOrg(), 'NOT_FOUND'],
    [await world.member({ space: null, role: 'admin' }), 'NOT_FOUND'],
    [await world.guest((await world.pokerRoom()).room), 'NOT_FOUND'],
  ]
  expect(
    await changes(world, room, async () => {
      for (const [person, code] of refused) expect(await quickVote(person, room)).toMatchObject({ code })
    }),
  ).toBe(false)
  await host.mutate('roomEnd', { roomId: room.id })
  expect(await quickVote(host, room)).toMatchObject({ code: 'ROOM_ENDED' })
})
