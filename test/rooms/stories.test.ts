import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { lastEvents, next, open } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const STORY = 'room { version } story { id title notes ref position estimate quick createdAt }'

const add = (person: Actor, room: TestRoom, text: object): Promise<Outcome> =>
  person.mutate('storyAdd', { roomId: room.id, ...text }, STORY, '... on LimitReachedError { limit }')
const update = (person: Actor, id: string, text: object): Promise<Outcome> =>
  person.mutate('storyUpdate', { id, ...text }, STORY)
const move = (person: Actor, id: string, afterId: string | null): Promise<Outcome> =>
  person.mutate('storyMove', { id, afterId }, STORY)
const estimate = (person: Actor, id: string, text: string | null): Promise<Outcome> =>
  person.mutate('storyEstimate', { id, estimate: text }, STORY)
const remove = (person: Actor, id: string): Promise<Outcome> =>
  person.mutate(
    'storyDelete',
    { id },
    'storyId room { version poker { revealed roundVersion currentStory { id } stories { id } } }',
  )

async function orderIn(room: TestRoom, viewer: Actor): Promise<string[]> {
  const { poker } = await viewer.room(room, 'poker { stories { id } }')
  return poker.stories.map(({ id }: { id: string }) => id)
}

it('ROOM-58 a member adds a story behind the last one', async () => {
  const { room, host, voters, stories } = await world.pokerRoom({ voters: 1 })
  const before = (await host.room(room)).version
  const added = await add(voters[0]!, room, { title: ' Sign in ', notes: 'With a key\nor without', ref: 'ABC-1' })

  const text = { title: 'Sign in', notes: 'With a key\nor without', ref: 'ABC-1' }
  expect(added).toMatchObject({
    room: { version: next(before) },
    story: { ...text, position: 2048, estimate: null, quick: false },
  })
  const { id } = added['story']
  expect(await orderIn(room, host)).toEqual([...stories, id])
  expect(await lastEvents(world, room, 1)).toMatchObject([
    {
      type: 'StoryAdded',
      payload: { story: { id: uuidOf(id), ...text, position: 2048, createdById: voters[0]!.userId } },
    },
  ])
  const [fact] = await world.sql(
    'SELECT event_type, target_kind, target_id, payload, deliverable FROM platform.audit_events WHERE room_id = $1',
    [room.uuid],
  )
  expect(fact).toEqual({
    event_type: 'story.added',
    target_kind: 'Story',
    target_id: uuidOf(id),
    payload: { storyId: uuidOf(id) },
    deliverable: true,
  })
})

it('ROOM-58 title or ref is enough, neither is not; lengths count characters after trimming', async () => {
  const { room, host } = await world.pokerRoom()
  expect(await add(host, room, { ref: 'X' })).toMatchObject({ story: { title: '', ref: 'X' } })
  const fits = { title: '🎉'.repeat(200), notes: 'n'.repeat(2_000), ref: '🎉'.repeat(40) }
  expect(await add(host, room, { ...fits, title: `  ${fits.title}  ` })).toMatchObject({ story: fits })

  expect(
    await changes(world, room, async () => {
      for (const nameless of [{}, { title: ' ', ref: '\t\n' }, { notes: 'only' }]) {
        expect(await add(host, room, nameless)).toMatchObject({
          code: 'INVALID_INPUT',
          issues: [{ path: ['input', 'title'] }],
        })
      }
      for (const [field, max] of [
        ['title', 200],
        ['notes', 2_000],
        ['ref', 40],
      ] as const) {
        expect(await add(host, room, { title: 'T', [field]: 'x'.repeat(max + 1) })).toMatchObject({
          code: 'INVALID_INPUT',
          issues: [{ path: ['input', field], message: `must have at most ${max} characters` }],
        })
      }
      for (const unstorable of ['a\0b', '\ud800']) {
        expect(await add(host, room, { title: unstorable })).toMatchObject({ code: 'INVALID_INPUT' })
      }
    }),
  ).toBe(false)
})

it('ROOM-58 a room holds 500 stories, also when two come at once for the last place', async () => {
  const { room, host } = await world.pokerRoom({ stories: 0 })
  await world.sql(
    `INSERT INTO rooms.stories (org_id, room_id, title, position)
     SELECT $1, $2, 'Story ' || n, n * 1024 FROM generate_series(1, 499) AS n`,
    [room.orgId, room.uuid],
  )
  const both = await Promise.all([add(host, room, { title: 'A' }), add(host, room, { title: 'B' })])
  expect(both.map(({ __typename }) => __typename).sort()).toEqual(['LimitReachedError', 'StoryAddPayload'])
  expect(both.find(({ code }) => code)).toMatchObject({ code: 'LIMIT_REACHED', limit: 500 })
  expect(await changes(world, room, () => add(host, room, { title: 'C' }))).toBe(false)
})

it('ROOM-58 a host changes what a story says; what is left out stays', async () => {
  const { room, host, stories } = await world.pokerRoom()
  const [id] = stories as [string]
  await update(host, id, { notes: 'Notes', ref: 'R-1' })
  const before = (await host.room(room)).version
  expect(await update(host, id, { title: 'Title', ref: '' })).toMatchObject({
    room: { version: next(before) },
    story: { title: 'Title', notes: 'Notes', ref: '' },
  })
  expect(await lastEvents(world, room, 1)).toMatchObject([
    { type: 'StoryChanged', payload: { story: { id: uuidOf(id), title: 'Title', notes: 'Notes', ref: '' } } },
  ])
  const facts = await world.sql<{ payload: object }>(
    `SELECT payload FROM platform.audit_events WHERE room_id = $1 AND event_type = 'story.updated' ORDER BY id`,
    [room.uuid],
  )
  expect(facts.at(-1)!.payload).toEqual({ storyId: uuidOf(id), fields: ['title', 'ref'] })

  expect(await changes(world, room, () => update(host, id, { title: ' Title' }))).toBe(false)
  expect(await changes(world, room, () => update(host, id, {}))).toBe(false)
  expect(
    await changes(world, room, async () => {
      expect(await update(host, id, { title: '' })).toMatchObject({
        code: 'INVALID_INPUT',
        issues: [{ path: ['input', 'title'] }],
      })
    }),
  ).toBe(false)
})

it('ROOM-59 moves a story behind another one or to the front', async () => {
  const { room, host, stories } = await world.pokerRoom({ stories: 4 })
  const [a, b, c, d] = stories as [string, string, string, string]
  expect(await move(host, d, a)).toMatchObject({ story: { position: 1536 } })
  expect(await lastEvents(world, room, 1)).toMatchObject([
    { type: 'StoriesReordered', payload: { positions: [{ storyId: uuidOf(d), position: 1536 }] } },
  ])
  expect(await orderIn(room, host)).toEqual([a, d, b, c])
  await move(host, c, null)
  expect(await orderIn(room, host)).toEqual([c, a, d, b])
  await move(host, c, b)
  expect(await orderIn(room, host)).toEqual([a, d, b, c])
  expect(await world.facts({ room })).toEqual(['story.moved', 'story.moved', 'story.moved'])

  for (const [moved, after] of [
    [a, null],
    [d, a],
    [c, b],
    [b, b],
  ] as const) {
    expect(await changes(world, room, () => move(host, moved, after))).toBe(false)
  }
})

it('ROOM-59 rewrites all positions in one event when two neighbours have no room between them', async () => {
  const { room, host, stories } = await world.pokerRoom({ stories: 3 })
  const [a, b, c] = stories as [string, string, string]
  await world.sql('UPDATE rooms.stories SET position = 1024 + 1e-7 WHERE id = $1', [uuidOf(b)])
  const before = (await host.room(room)).version
  expect(await move(host, c, a)).toMatchObject({ room: { version: next(before) }, story: { position: 2048 } })
  expect(await lastEvents(world, room, 1)).toMatchObject([
    {
      type: 'StoriesReordered',
      payload: {
        positions: [a, c, b].map((id, at) => ({ storyId: uuidOf(id), position: (at + 1) * 1024 })),
      },
    },
  ])
  expect(await orderIn(room, host)).toEqual([a, c, b])
})

it('ROOM-59 of many moves at once all hold', async () => {
  const { room, host, stories } = await world.pokerRoom({ stories: 12 })
  const cohost = await world.member()
  await world.attend(room, cohost)
  await world.sql('UPDATE rooms.room_participants SET cofacilitator = true WHERE user_id = $1', [cohost.userId])

  // Each odd story goes behind its successor; the pairs do not touch one another.
  const swaps = stories.filter((_, at) => at % 2 === 0).map((id, at) => [id, stories[at * 2 + 1]!] as const)
  const answers = await Promise.all(swaps.map(([id, after], at) => move(at % 2 ? host : cohost, id, after)))
  expect(answers.every(({ __typename }) => __typename === 'StoryMovePayload')).toBe(true)
  expect(await orderIn(room, host)).toEqual(swaps.flatMap(([id, after]) => [after, id]))

  // All to the same place: the last one to come stands there, the others behind it as they came.
  const before = BigInt((await host.room(room)).version)
  await Promise.all(stories.slice(1).map((id, at) => move(at % 2 ? host : cohost, id, stories[0]!)))
  const events = (await world.events(room)).filter(({ version }) => BigInt(version) > before)
  const moved = events.map(({ payload }) => (payload['positions'] as { storyId: string }[])[0]!.storyId)
  const order = (await orderIn(room, host)).map(uuidOf)
  expect(moved.length).toBeGreaterThanOrEqual(10) // one may have stood there already
  expect(order.slice(order.indexOf(uuidOf(stories[0]!)) + 1).slice(0, moved.length)).toEqual(moved.reverse())
})

it('ROOM-60 deleting the story on the table leaves it empty, unrevealed, in the next round', async () => {
  for (const revealed of [false, true]) {
    const { room, host, voters, stories } = await world.pokerRoom({ stories: 2, voters: 1 })
    await voters[0]!.vote(room, '5')
    if (revealed) await host.reveal(room)
    const before = (await host.room(room)).version

    expect(await remove(host, stories[0]!)).toMatchObject({
      room: {
        version: next(before, 2n),
        poker: {
          revealed: false,
          roundVersion: next(room.round.roundVersion),
          currentStory: null,
          stories: [{ id: stories[1] }],
        },
      },
    })
    expect(await lastEvents(world, room, 2)).toMatchObject([
      { type: 'RoundOpened', payload: { storyId: null, roundVersion: next(room.round.roundVersion), revealed: false } },
      { type: 'StoryRemoved', payload: { storyId: uuidOf(stories[0]!) } },
    ])
    expect((await world.facts({ room })).slice(-2)).toEqual(['round.opened', 'story.deleted'])
    expect(await world.sql('SELECT FROM rooms.votes WHERE room_id = $1', [room.uuid])).toEqual([])
    expect(await voters[0]!.vote(room, '8')).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'storyId'] })
  }
})

it('ROOM-58 deleting another story touches no round', async () => {
  const { room, host, voters, stories } = await world.pokerRoom({ stories: 2, voters: 1 })
  await open(host, room, stories[1]!)
  await voters[0]!.vote(room, '5')
  expect(await remove(host, stories[0]!)).toMatchObject({
    storyId: stories[0],
    room: { poker: { currentStory: { id: stories[1] } } },
  })
  expect((await lastEvents(world, room, 1))[0]!.type).toBe('StoryRemoved')
  expect(await voters[0]!.vote(room, '8')).toMatchObject({ myCard: '8' })
})

it('ROOM-63 a host writes down an estimate: a card with a value, or any number of a numeric deck; null clears it', async () => {
  const { room, host, stories } = await world.pokerRoom({ cards: ['½', '1', '2', '?', '☕'] })
  const [id] = stories as [string]
  for (const fits of ['½', '2', '40', '0.5', '3/4', '1½']) {
    expect(await estimate(host, id, fits)).toMatchObject({ story: { estimate: fits } })
  }
  expect(await changes(world, room, () => estimate(host, id, '1½'))).toBe(false)
  expect(
    await changes(world, room, async () => {
      for (const unfit of ['?', '☕', '☕\ufe0f', '∞', '-1', 'XL', '1/0', '1e3']) {
        expect(await estimate(host, id, unfit)).toMatchObject({
          code: 'INVALID_INPUT',
          issues: [{ path: ['input', 'estimate'] }],
        })
      }
      expect(await estimate(host, id, '1'.repeat(17))).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await estimate(host, id, '')).toMatchObject({ code: 'INVALID_INPUT' })
    }),
  ).toBe(false)

  expect(await estimate(host, id, null)).toMatchObject({ story: { estimate: null } })
  expect(await lastEvents(world, room, 1)).toMatchObject([
    { type: 'StoryEstimated', payload: { storyId: uuidOf(id), estimate: null } },
  ])
  const [fact] = await world.sql(
    `SELECT payload FROM platform.audit_events WHERE room_id = $1 AND event_type = 'story.estimated' ORDER BY id DESC LIMIT 1`,
    [room.uuid],
  )
  expect(fact).toEqual({ payload: { storyId: uuidOf(id), estimate: null, previous: '1½' } })
})

it('ROOM-63 in an ordinal deck only its cards are estimates', async () => {
  const { host, stories } = await world.pokerRoom({ cards: ['XS', 'XL', '?'], ordinal: true })
  expect(await estimate(host, stories[0]!, 'XL')).toMatchObject({ story: { estimate: 'XL' } })
  for (const unfit of ['5', 'M', '?'])
    expect(await estimate(host, stories[0]!, unfit)).toMatchObject({ code: 'INVALID_INPUT' })
})

it('ROOM-63 estimating one story anew touches no other story’s votes or result', async () => {
  const { room, host, voters, stories } = await world.pokerRoom({ stories: 3, voters: 2 })
  const shown = async () =>
    (await host.room(room, 'poker { stories { id estimate votes { userId card } result { counted average } } }')).poker
      .stories
  for (const id of stories.slice(0, 2)) {
    await open(host, room, id)
    for (const voter of voters) await voter.vote(room, '5')
    await host.reveal(room)
  }
  await open(host, room, stories[2]!)
  await voters[0]!.vote(room, '8')
  const before = await shown()
  await estimate(host, stories[0]!, '13')
  await estimate(host, stories[2]!, '3')
  const after = await shown()
  expect(after).toEqual([{ ...before[0], estimate: '13' }, before[1], { ...before[2], estimate: '3' }])
  expect(await voters[1]!.vote(room, '8')).toMatchObject({ myCard: '8' })
})
