import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { AT_NINE, save } from '../rooms/schedule-team.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { type SlotClock, slotClock } from '../support/slot-clock.ts'
import { createWorld, type TestSpace, uuidOf, type World } from '../support/world.ts'

const DUE = '2026-06-01T07:00:00Z' // nine in Berlin

let database: TestDatabase
let world: World
let clock: SlotClock
let first: ServerProcess

beforeAll(async () => {
  database = await createDatabase()
  first = await startProcess(database)
  world = await createWorld(first)
  clock = await slotClock(world, '2026-06-01T06:00:00Z')
})
afterAll(async () => {
  await world?.close()
  await database?.drop()
})

/** All that an opening writes of a space: its slots, its rooms, the answers in them, what was told. */
async function opened(space: TestSpace): Promise<unknown> {
  const [row] = await world.sql(
    `SELECT (SELECT count(*)::int FROM rooms.standup_schedule_slots AS s JOIN rooms.standup_schedules AS t
         ON t.id = s.schedule_id WHERE t.space_id = $1) AS slots,
       (SELECT count(*)::int FROM rooms.rooms WHERE space_id = $1) AS rooms,
       (SELECT count(*)::int FROM rooms.standup_entries AS e JOIN rooms.rooms AS r ON r.id = e.room_id
         WHERE r.space_id = $1) AS entries,
       (SELECT count(*)::int FROM rooms.standup_ahead_entries AS a JOIN rooms.standup_schedules AS t
         ON t.id = a.schedule_id WHERE t.space_id = $1) AS ahead,
       (SELECT count(*)::int FROM platform.audit_events WHERE space_id = $1
         AND event_type IN ('room.created', 'standup.opened', 'standup.skipped')) AS facts`,
    [space.uuid],
  )
  return row
}

it('ROOM-124 a server that dies between claim and commit leaves nothing, and another opens the day once', async () => {
  const { owner, home: space } = world
  const { schedule } = await save(owner, space, AT_NINE)
  const scheduleId = schedule.id as string
  const put = await owner.mutate('standupAheadPut', { scheduleId, day: '2026-06-01', today: 'Ship it' })
  expect(put.__typename).toBe('StandupAheadPutPayload')

  // The only server leases the slot, opens it and waits there, with slot and room written and no commit.
  const held = await world.hold('LOCK TABLE rooms.standup_entries IN ACCESS EXCLUSIVE MODE')
  await clock.set(DUE)
  await world.untilBlocked()
  const lease = async () =>
    (
      await world.sql<{ by: string | null; left: number }>(
        `SELECT locked_by AS by, extract(epoch FROM locked_until - now())::float AS left
         FROM rooms.standup_schedules WHERE id = $1`,
        [uuidOf(scheduleId)],
      )
    )[0]!
  const { by: holder } = await lease()
  expect(holder).not.toBeNull()
  await first.kill()
  await held.release()
  await vi.waitFor(
    async () => {
      const open = await world.sql(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND usename = 'moothall_app'`,
      )
      expect(open).toEqual([])
    },
    { timeout: 15_000 },
  )
  expect(await opened(space)).toEqual({ slots: 0, rooms: 0, entries: 0, ahead: 1, facts: 0 })

  // The lease of the dead holds the others off until it ends.
  const second = await startProcess(database)
  const third = await startProcess(database)
  try {
    await clock.set(DUE)
    await clock.set(DUE)
    expect(await lease()).toMatchObject({ by: holder })
    expect(await opened(space)).toMatchObject({ slots: 0, rooms: 0 })
    await world.sql('UPDATE rooms.standup_schedules SET locked_until = now() WHERE id = $1', [uuidOf(scheduleId)])
    await clock.set('2026-06-01T07:01:00Z')
    const whole = { slots: 1, rooms: 1, entries: 1, ahead: 0, facts: 2 }
    await vi.waitFor(async () => expect(await opened(space)).toEqual(whole), { timeout: 15_000 })
    expect(await lease()).toEqual({ by: null, left: null })
    await clock.set('2026-06-01T07:30:00Z')
    const [row] = await world.sql<{ closes: string; today: string; outcome: string }>(
      `SELECT r.closes_at::text AS closes, e.today, s.outcome FROM rooms.standup_schedule_slots AS s
       JOIN rooms.rooms AS r ON r.id = s.room_id JOIN rooms.standup_entries AS e ON e.room_id = r.id
       WHERE s.schedule_id = $1`,
      [uuidOf(scheduleId)],
    )
    expect(row).toEqual({ closes: '2026-06-01 08:00:00+00', today: 'Ship it', outcome: 'opened' })
    expect(await opened(space)).toEqual(whole)
  } finally {
    await Promise.all([second.close(), third.close()])
  }
})
