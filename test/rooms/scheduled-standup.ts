import { newId } from '../../src/lib/type-id.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import type { TestSpace, World } from '../support/world.ts'
import { standup } from './standup-circle.ts'

type Setup = {
  space: TestSpace
  /** The local day that it was opened for. */
  date: string
  timezone?: string
  host?: Actor
  people?: number
}

/** A standup as a schedule of the space opened it, with its slot, and people who are all present. */
export async function scheduledStandup(
  world: World,
  { space, date, timezone = 'Europe/Berlin', ...setup }: Setup,
): Promise<{ room: TestRoom; host: Actor; people: Actor[] }> {
  const opened = await standup(world, { space, async: true, ...setup })
  await world.sql(
    `INSERT INTO rooms.standup_schedules (org_id, space_id, weekdays, open_time, timezone, window_minutes, enabled, starts_on)
     VALUES ($1, $2, '{0,1,2,3,4,5,6}', '09:00', $3, 60, false, '2026-01-01')
     ON CONFLICT (org_id, space_id) DO NOTHING`,
    [space.orgId, space.uuid, timezone],
  )
  await world.sql(
    `INSERT INTO rooms.standup_schedule_slots (org_id, schedule_id, slot_date, room_id, outcome, opens_at, closes_at)
     SELECT org_id, id, $2::date, $3, 'opened', ($2::date + open_time) AT TIME ZONE timezone,
       ($2::date + open_time) AT TIME ZONE timezone + interval '1 hour'
     FROM rooms.standup_schedules WHERE space_id = $1`,
    [space.uuid, date, opened.room.uuid],
  )
  return opened
}

/** Days on which somebody is away, told at a time of its own. */
export const isAway = (world: World, { orgId, userId }: Actor, date: string, toldAt = '2026-01-01T00:00:00Z') =>
  world.sql(
    `INSERT INTO rooms.standup_away (org_id, id, user_id, starts_on, ends_on, created_at)
     VALUES ($1, $2, $3, $4, $4, $5)`,
    [orgId, newId(), userId, date, toldAt],
  )
