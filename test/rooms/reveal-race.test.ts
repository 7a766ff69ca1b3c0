import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, FIBONACCI, type World } from '../support/world.ts'
import { reset, roundSeenBy } from './poker-table.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const RACES = 500
const ROOMS = 25

it('ROOM-71 counts every acknowledged vote when casting races the reveal, and tells every other caller', {
  timeout: 300_000,
}, async () => {
  const tally = { acknowledged: 0, refused: 0 }
  const rooms = await Promise.all(Array.from({ length: ROOMS }, () => world.pokerRoom({ voters: 4 })))
  await inTurns(rooms, 5, async ({ room, host, voters }, place) => {
    for (let run = 0; run < RACES / ROOMS; run++) {
      await race(room, host, voters, place * RACES + run, tally)
      await reset(host, room)
    }
  })
  expect(tally.acknowledged + tally.refused).toBe(RACES * 4)
  // Without both there was no race.
  expect(tally.acknowledged).toBeGreaterThan(RACES / 10)
  expect(tally.refused).toBeGreaterThan(RACES / 10)
})

async function race(
  room: TestRoom,
  host: Actor,
  voters: Actor[],
  seed: number,
  tally: { acknowledged: number; refused: number },
): Promise<void> {
  const cards = voters.map((_, at) => FIBONACCI[(seed + at) % 8]!)
  // The reveal starts with the casts or some of them later, so that it meets them at every stage.
  const delayed = async <T>(place: number, act: () => Promise<T>) => {
    if (place > 0) await pause(place)
    return act()
  }
  const [revealed, ...casts] = await Promise.all([
    delayed(seed % 4, () => host.reveal(room)),
    ...voters.map((voter, at) => delayed((seed + at) % 3, () => voter.vote(room, cards[at]!))),
  ])

  expect(revealed).toMatchObject({ __typename: 'RoomRevealPayload' })
  const acknowledged = new Map<string, string>()
  for (const [at, cast] of casts.entries()) {
    if (cast.__typename === 'VoteCastPayload') acknowledged.set(voters[at]!.id, cards[at]!)
    else expect(cast).toMatchObject({ code: 'ROUND_CLOSED', roundVersion: room.round.roundVersion, revealed: true })
  }
  expect(await roundSeenBy(host, room)).toMatchObject({ cards: acknowledged, counted: acknowledged.size })
  tally.acknowledged += acknowledged.size
  tally.refused += voters.length - acknowledged.size
}

/** Runs `act` for all items, a few at once. */
async function inTurns<T>(items: readonly T[], width: number, act: (item: T, place: number) => Promise<void>) {
  const queue = [...items.entries()]
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await act(next[1], next[0])
  }
  await Promise.all(Array.from({ length: width }, worker))
}
