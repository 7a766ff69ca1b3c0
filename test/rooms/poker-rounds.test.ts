import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { idsOf, lastEvents, next, open, reset, select, TABLE } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

describe('select', () => {
  it('ROOM-64 puts a story on the table in a new round, also an empty one', async () => {
    const { room, host, stories } = await world.pokerRoom({ stories: 2, voters: 1 })
    const { roundVersion } = room.round
    const chosen = await select(host, room, stories[1]!)
    expect(chosen).toMatchObject({
      room: {
        poker: { roundVersion: next(roundVersion), revealed: false, currentStory: { id: stories[1], votes: [] } },
      },
    })
    const [opened] = await lastEvents(world, room, 1)
    expect(opened).toEqual({
      version: chosen['room'].version,
      type: 'RoundOpened',
      payload: {
        storyId: uuidOf(stories[1]!),
        roundVersion: next(roundVersion),
        revealed: false,
        waitingForIds: chosen['room'].poker.waitingFor.map(({ id }: Actor) => uuidOf(id)),
      },
    })
    expect(chosen['room'].poker.waitingFor).toHaveLength(2)

    const cleared = await select(host, room, null)
    expect(cleared).toMatchObject({
      room: { poker: { roundVersion: next(roundVersion, 2n), revealed: false, currentStory: null, waitingFor: [] } },
    })
    expect(await lastEvents(world, room, 1)).toMatchObject([{ payload: { storyId: null, waitingForIds: [] } }])
    expect(await world.facts({ room })).toEqual(['round.opened', 'round.opened'])
  })

  it('ROOM-64 the story on the table, or no story on an empty one, is no change', async () => {
    const { room, host, stories } = await world.pokerRoom()
    expect(await changes(world, room, () => select(host, room, stories[0]!))).toBe(false)
    await select(host, room, null)
    expect(await changes(world, room, () => select(host, room, null))).toBe(false)
    expect(await changes(world, room, () => host.mutate('roomSelect', { roomId: room.id }))).toBe(false)
  })

  it('ROOM-64 a story with hidden votes comes back hidden with them, and they count', async () => {
    const { room, host, voters, stories } = await world.pokerRoom({ stories: 2, voters: 2 })
    await voters[0]!.vote(room, '5')
    const first = room.round
    await open(host, room, stories[1]!)
    expect(await voters[0]!.vote(room, '3', first)).toMatchObject({ code: 'ROUND_CLOSED' })

    const back = await open(host, room, stories[0]!)
    expect(back['room'].poker).toMatchObject({
      revealed: false,
      myCard: null,
      votedUserIds: [voters[0]!.id],
      currentStory: { votes: [{ userId: voters[0]!.id, card: null }], result: null },
    })
    // The card they have there is the same: no change.
    expect(await changes(world, room, () => voters[0]!.vote(room, '5'))).toBe(false)
    await voters[1]!.vote(room, '8')
    await host.reveal(room)
    expect((await host.room(room, TABLE)).poker.currentStory).toMatchObject({
      votes: [{ card: '5' }, { card: '8' }],
      result: { counted: 2 },
    })
  })

  it('ROOM-64 a revealed story comes back revealed and closed', async () => {
    const { room, host, voters, stories } = await world.pokerRoom({ stories: 2, voters: 1, autoReveal: true })
    await voters[0]!.vote(room, '5')
    await host.reveal(room)
    await open(host, room, stories[1]!)

    const back = await open(host, room, stories[0]!)
    expect(back['room'].poker).toMatchObject({
      revealed: true,
      waitingFor: [],
      currentStory: { votes: [{ card: '5' }], result: { counted: 1 } },
    })
    expect(await lastEvents(world, room, 1)).toMatchObject([
      { type: 'RoundOpened', payload: { revealed: true, waitingForIds: [] } },
    ])
    expect(await voters[0]!.vote(room, '8')).toMatchObject({ code: 'ROUND_CLOSED', revealed: true })
    expect(await changes(world, room, () => host.reveal(room))).toBe(false)
  })

  it('ROOM-66 a story that comes back complete, since who it waited for has left, reveals itself', async () => {
    const { room, host, voters, stories } = await world.pokerRoom({ stories: 2, voters: 1, autoReveal: true })
    await host.vote(room, '5')
    await open(host, room, stories[1]!)
    await world.depart(room, voters[0]!)

    const back = await open(host, room, stories[0]!)
    expect(back['room'].poker).toMatchObject({ revealed: true, currentStory: { votes: [{ card: '5' }] } })
    expect(await lastEvents(world, room, 2)).toMatchObject([
      { type: 'RoundOpened', payload: { revealed: false, waitingForIds: [] } },
      { type: 'RoundRevealed', payload: { reason: 'AUTO', roundVersion: room.round.roundVersion } },
    ])
  })

  it('ROOM-64 twenty selects at once take twenty rounds, one after the other', async () => {
    const { room, host, stories } = await world.pokerRoom({ stories: 20 })
    await select(host, room, null)
    const before = BigInt((await host.room(room, TABLE)).poker.roundVersion)
    const answers = await Promise.all(stories.map((storyId) => select(host, room, storyId)))
    expect(answers.every(({ __typename }) => __typename === 'RoomSelectPayload')).toBe(true)
    const rounds = (await lastEvents(world, room, 20)).map(({ payload }) => payload['roundVersion'])
    expect(rounds).toEqual(stories.map((_, at) => String(before + BigInt(at) + 1n)))
  })
})

describe('reset', () => {
  it('ROOM-65 removes the votes, hides the story again and takes a new round; the estimate stays', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    for (const voter of voters) await voter.vote(room, '5')
    await host.reveal(room)
    await host.mutate('storyEstimate', { id: room.round.storyId, estimate: '5' })

    const before = room.round
    const outcome = await reset(host, room)
    expect(outcome['room'].poker).toMatchObject({
      roundVersion: next(before.roundVersion),
      revealed: false,
      votedUserIds: [],
      currentStory: { estimate: '5', revealedAt: null, votes: [], result: null },
    })
    expect(idsOf(outcome['room'].poker.waitingFor)).toEqual(idsOf([host, ...voters]))
    expect(await lastEvents(world, room, 1)).toMatchObject([
      {
        type: 'RoundReset',
        payload: { storyId: uuidOf(before.storyId), roundVersion: next(before.roundVersion) },
      },
    ])
    expect(await world.sql('SELECT FROM rooms.votes WHERE room_id = $1', [room.uuid])).toEqual([])
    expect(await voters[0]!.vote(room, '5', before)).toMatchObject({ code: 'ROUND_CLOSED' })
    expect((await world.facts({ room })).at(-1)).toBe('round.reset')
  })

  it('ROOM-65 takes a new round also without votes, and leaves other stories and an empty table alone', async () => {
    const { room, host, voters, stories } = await world.pokerRoom({ stories: 2, voters: 1 })
    await voters[0]!.vote(room, '5')
    await open(host, room, stories[1]!)
    const before = room.round
    expect(await reset(host, room)).toMatchObject({ room: { poker: { roundVersion: next(before.roundVersion) } } })
    expect(await world.sql('SELECT card FROM rooms.votes WHERE room_id = $1', [room.uuid])).toEqual([{ card: '5' }])

    await select(host, room, null)
    expect(await changes(world, room, () => reset(host, room))).toBe(false)
  })

  it('ROOM-71 an acknowledged vote is gone only with its round when casting races the reset', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 3 })
    for (let run = 0; run < 20; run++) {
      const [, ...casts] = await Promise.all([reset(host, room), ...voters.map((voter) => voter.vote(room, '5'))])
      for (const cast of casts) expect(['VoteCastPayload', 'RoundClosedError']).toContain(cast.__typename)
      expect((await host.room(room, TABLE)).poker.votedUserIds).toEqual([])
    }
  })
})
