import { vi } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Actor, Outcome } from '../support/actor.ts'
import { type TestSpace, uuidOf, type World } from '../support/world.ts'

export const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6]

/** Standups at nine in Berlin, open for an hour, every day. */
export const AT_NINE = {
  weekdays: EVERY_DAY,
  openTime: '09:00',
  timezone: 'Europe/Berlin',
  windowMinutes: 60,
  enabled: true,
}

const SCHEDULE = 'id weekdays openTime timezone windowMinutes enabled updatedBy { id } nextOpenAt'

export const save = (owner: Actor, space: TestSpace, settings: Partial<typeof AT_NINE> = {}): Promise<Outcome> =>
  owner.mutate('standupScheduleSet', { spaceId: space.id, ...AT_NINE, ...settings }, `schedule { ${SCHEDULE} }`)

/** A space of its own with an owner, and its schedule saved. */
export async function scheduled(world: World, settings: Partial<typeof AT_NINE> = {}) {
  const owner = await world.member({ space: null })
  const space = await world.space({ owner })
  const { schedule, ...refused } = await save(owner, space, settings)
  if (!schedule) throw new Error(JSON.stringify(refused))
  return { owner, space, scheduleId: schedule.id as string, schedule }
}

export type SlotRow = { date: string; outcome: string; room_id: string | null; opens_at: string; closes_at: string }

export const slotsOf = (world: World, scheduleId: string): Promise<SlotRow[]> =>
  world.sql<SlotRow>(
    `SELECT slot_date::text AS date, outcome, room_id, opens_at::text, closes_at::text
     FROM rooms.standup_schedule_slots WHERE schedule_id = $1 ORDER BY slot_date`,
    [uuidOf(scheduleId)],
  )

/** Waits until so many days had their slot. */
export const untilSlots = (world: World, scheduleId: string, count: number): Promise<SlotRow[]> =>
  vi.waitFor(
    async () => {
      const slots = await slotsOf(world, scheduleId)
      if (slots.length !== count) throw new Error(`${slots.length} slots: ${JSON.stringify(slots)}`)
      return slots
    },
    { timeout: 15_000, interval: 50 },
  )

/** Waits until nothing of the schedule is due. */
export const untilArmed = (world: World, scheduleId: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const [due] = await world.sql(
        'SELECT 1 FROM rooms.standup_schedules WHERE id = $1 AND next_open_at <= rooms.clock()',
        [uuidOf(scheduleId)],
      )
      if (due) throw new Error('a slot is due')
    },
    { timeout: 15_000, interval: 50 },
  )

export const roomOf = ({ room_id }: SlotRow): { id: string } => ({ id: encodeId('Room', room_id ?? '') })
