import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, Outcome, Round } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const EXPECTED = new Set([
  'ROUND_CLOSED',
  'NOT_FOUND',
  'FORBIDDEN',
  'ROOM_ENDED',
  'LAST_OWNER',
  'CONFLICT',
  'FACILITATOR_PRESENT',
])
const deadlocks = async () => {
  await world.sql('SELECT pg_stat_force_next_flush()')
  const [row] = await world.sql<{ deadlocks: string }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  )
  return Number(row!.deadlocks)
}

it('ROOM-2, ROOM-3 everybody does everything in two rooms of a space at once: no deadlock, no gap, one event a version', async () => {
  const rooms = [
    await world.pokerRoom({ voters: 4, stories: 3 }),
    await world.pokerRoom({ voters: 4, stories: 3, autoReveal: true }),
  ]
  const people = rooms.flatMap(({ host, voters }) => [host, ...voters])
  for (const { room, stories: _ } of rooms) for (const person of people) await world.attend(room, person)
  const before = await deadlocks()
  const odd: Outcome[] = []

  const roundOf = async (actor: Actor, id: string): Promise<Round | null> => {
    const { poker } = (await actor.room({ id }, 'poker { roundVersion currentStory { id } }')) ?? {}
    return poker?.currentStory ? { storyId: poker.currentStory.id, roundVersion: poker.roundVersion } : null
  }
  const act = async (actor: Actor, turn: number): Promise<void> => {
    const { room, host, stories } = rooms[turn % 2]!
    const round = await roundOf(actor, room.id)
    const story = stories[turn % stories.length]
    const moves: (() => Promise<Outcome>)[] = [
      () =>
        round
          ? actor.vote(room, ['1', '2', '3', '5'][turn % 4]!, round)
          : host.mutate('roomSelect', { roomId: room.id, storyId: story }),
      () => host.mutate('roomSelect', { roomId: room.id, storyId: story }),
      () => host.mutate('roomReset', { roomId: room.id }),
      () => host.reveal(room, round ?? room.round),
      () => actor.mutate('storyAdd', { roomId: room.id, title: `t${turn}` }),
      () => host.mutate('storyMove', { id: story, afterId: null }),
      () => actor.mutate('spaceSpectatorSet', { id: world.home.id, spectator: turn % 2 === 0 }),
      () =>
        world.owner.mutate('spaceMemberRoleSet', {
          id: world.home.id,
          userId: actor.id,
          role: turn % 2 ? 'OWNER' : 'MEMBER',
        }),
      () => actor.mutate('roomFacilitatorClaim', { roomId: room.id }),
      () => host.mutate('roomRename', { roomId: room.id, title: `title ${turn}` }),
    ]
    const outcome = await moves[(turn * 7) % moves.length]!()
    if (outcome.code && !EXPECTED.has(outcome.code)) odd.push(outcome)
  }
  let turn = 0
  await Promise.all(
    people.map(async (actor) => {
      for (let step = 0; step < 25; step++) await act(actor, turn++)
    }),
  )

  expect(odd).toEqual([])
  expect(await deadlocks()).toBe(before)
  for (const { room } of rooms) {
    const [row] = await world.sql<{ version: string; from: string; events: string }>(
      `SELECT r.version, min(e.version) AS from, count(e.version) AS events
       FROM rooms.rooms AS r JOIN rooms.room_events AS e ON e.room_id = r.id WHERE r.id = $1 GROUP BY r.version`,
      [room.uuid],
    )
    // The world made the room with versions of its own and no events; from the first event on there is one for each.
    expect(Number(row!.events)).toBe(Number(row!.version) - Number(row!.from) + 1)
  }
  expect(world.app.log()).not.toContain('operation failed')
}, 120_000)
