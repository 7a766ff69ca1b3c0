import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { roomOf, type SlotRow, save, scheduled, slotsOf, untilArmed } from '../rooms/schedule-team.ts'
import type { Actor } from '../support/actor.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { actorAt, type ServerProcess, startProcess } from '../support/server-process.ts'
import { type SlotClock, slotClock } from '../support/slot-clock.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'

const ROUNDS = 25
const WRITES = 6
const FIRST_DUE = Date.parse('2026-06-01T07:00:00Z') // nine in Berlin, in summer until the rounds end
const DAY = 24 * 3_600_000

let database: TestDatabase
let world: World
let clock: SlotClock
let [one, two]: ServerProcess[] = []

beforeAll(async () => {
  database = await createDatabase()
  one = await startProcess(database)
  two = await startProcess(database)
  world = await createWorld(one)
  clock = await slotClock(world, at(-1))
})
afterAll(async () => {
  await world?.close()
  await two?.close()
  await database?.drop()
})

/** When the slot of a round is due, give or take so many minutes. */
const at = (round: number, minutes = 0): string => new Date(FIRST_DUE + round * DAY + minutes * 60_000).toISOString()
const dayOf = (round: number): string => at(round).slice(0, 10)
/** Sometimes this first, sometimes that. */
const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 30))

it(`ROOM-123, ROOM-124 a save and the opening of the due slot: opened or skipped, never twice, no lease stays, ${ROUNDS} times`, async () => {
  await clock.set(at(0, -60))
  const { owner, space, scheduleId } = await scheduled(world, { windowMinutes: 30 })
  const saver = actorAt(two!, owner)
  const opened = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const before = (await slotsOf(world, scheduleId)).length
    // Today's time is over, but nobody was told yet: whoever comes first to the schedule decides.
    await world.sql('UPDATE rooms.test_clock SET now = $1', [at(round, 2)])
    const [saved] = await Promise.all([
      pause().then(() => save(saver, space, { windowMinutes: 30, openTime: round % 2 === 0 ? '09:01' : '09:00' })),
      pause().then(() => world.sql(`SELECT platform.notify_jobs('standup_opening')`)),
    ])
    expect(saved.__typename).toBe('StandupScheduleSetPayload')
    await untilArmed(world, scheduleId)
    const slots = await slotsOf(world, scheduleId)
    expect([before, before + 1]).toContain(slots.length)
    for (const { date, outcome } of slots.slice(before)) {
      expect([date, outcome]).toEqual([dayOf(round), 'opened'])
      opened.add(date)
    }
    const [row] = await world.sql<{ day: string; lease: string | null }>(
      `SELECT (next_open_at AT TIME ZONE timezone)::date::text AS day, locked_by AS lease
       FROM rooms.standup_schedules WHERE id = $1`,
      [uuidOf(scheduleId)],
    )
    expect(row).toEqual({ day: dayOf(round + 1), lease: null })
    await clock.set(at(round + 1, -60))
  }
  const slots = await slotsOf(world, scheduleId)
  const rooms = await world.sql<{ id: string }>('SELECT id FROM rooms.rooms WHERE space_id = $1', [space.uuid])
  expect(new Set(rooms.map(({ id }) => id))).toEqual(new Set(slots.map(({ room_id }) => room_id)))
  expect(rooms).toHaveLength(opened.size)
  // Both came first sometimes.
  expect(opened.size).toBeGreaterThan(0)
  expect(opened.size).toBeLessThan(ROUNDS)
  expect(await world.facts({ space })).toHaveLength(await saves(scheduleId))
}, 300_000)

/** How often it was saved, by its revision. */
async function saves(scheduleId: string): Promise<number> {
  const [row] = await world.sql<{ revision: number }>('SELECT revision FROM rooms.standup_schedules WHERE id = $1', [
    uuidOf(scheduleId),
  ])
  return row!.revision + 1
}

it(`ROOM-129 the last acknowledged answer ahead is in the room that opens, and none is taken after, ${ROUNDS} times`, async () => {
  await clock.set(at(0, -60))
  const { owner, space, scheduleId } = await scheduled(world)
  const people = await Promise.all(Array.from({ length: 4 }, () => world.member({ space })))
  let [taken, refused] = [0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    const day = dayOf(round)
    /** Writes again and again; gives what was acknowledged last. */
    const write = async (person: Actor, server: ServerProcess) => {
      let [last, over] = ['', false]
      for (let text = 0; text < WRITES; text++) {
        await pause()
        const today = `${day}, ${text}`
        const outcome = await actorAt(server, person).mutate('standupAheadPut', { scheduleId, day, today })
        if (outcome.__typename === 'StandupAheadPutPayload') {
          expect(over, 'taken after one was refused').toBe(false)
          last = today
          taken++
        } else {
          expect(outcome).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['input', 'day'] }] })
          over = true
          refused++
        }
      }
      return last
    }
    const [slots, ...written] = await Promise.all([
      pause().then(() => opening(scheduleId, round)),
      ...people.map((person, each) => write(person, each % 2 === 0 ? one! : two!)),
    ])
    const { standup } = await owner.room(roomOf(slots.at(-1)!), 'standup { entries { userId today } }')
    const said = new Map(standup.entries.map((entry: Entry) => [entry.userId, entry.today]))
    expect(said).toEqual(new Map(people.flatMap(({ id }, each) => (written[each] ? [[id, written[each]]] : []))))
    await clock.set(at(round + 1, -30))
  }
  expect(await world.sql('SELECT 1 FROM rooms.standup_ahead_entries')).toEqual([])
  // The openings really fell among the answers.
  expect(taken).toBeGreaterThan(ROUNDS)
  expect(refused).toBeGreaterThan(ROUNDS)
}, 300_000)

/** Lets the slot of a round be due, and servers look for it until it has opened: one that is written to is passed over. */
async function opening(scheduleId: string, round: number): Promise<SlotRow[]> {
  await world.sql('UPDATE rooms.test_clock SET now = $1', [at(round)])
  return vi.waitFor(
    async () => {
      await world.sql(`SELECT platform.notify_jobs('standup_opening')`)
      const slots = await slotsOf(world, scheduleId)
      expect(slots).toHaveLength(round + 1)
      return slots
    },
    { timeout: 15_000, interval: 5 },
  )
}

type Entry = { userId: string; today: string }
