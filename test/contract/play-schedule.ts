import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { TestSpace, World } from '../support/world.ts'
import type { Play } from './stage.ts'

const DAY = 86_400_000

/** A day on which the schedule of a play opens a standup, and has not yet. */
export const dayAhead = (): string => new Date(Date.now() + 2 * DAY).toISOString().slice(0, 10)

/** The space has standups at midnight in UTC every day, from tomorrow. */
export async function scheduleOf(world: World, { orgId, uuid }: TestSpace): Promise<string> {
  const [schedule] = await world.sql<{ id: string }>(
    `INSERT INTO rooms.standup_schedules (org_id, id, space_id, weekdays, open_time, timezone, window_minutes, enabled,
       starts_on, next_open_at)
     VALUES ($1, $2, $3, '{0,1,2,3,4,5,6}', '00:00', 'UTC', 60, true, (now() AT TIME ZONE 'UTC')::date + 1,
       date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + interval '1 day')
     ON CONFLICT (org_id, space_id) DO UPDATE SET enabled = true, next_open_at = excluded.next_open_at RETURNING id`,
    [orgId, newId(), uuid],
  )
  return encodeId('StandupSchedule', schedule!.id)
}

export async function withSchedule(world: World, play: Play): Promise<void> {
  play.scheduleId = await scheduleOf(world, play.space)
}

/** The same, with everybody's answer for the day. */
export async function withAhead(world: World, play: Play): Promise<void> {
  await withSchedule(world, play)
  await world.sql(
    `INSERT INTO rooms.standup_ahead_entries (org_id, schedule_id, day, user_id, today)
     SELECT m.org_id, s.id, $2::date, m.user_id, 'Work'
     FROM rooms.space_members AS m JOIN rooms.standup_schedules AS s ON s.org_id = m.org_id AND s.space_id = m.space_id
     WHERE m.space_id = $1 AND identity.has_standing(m.org_id, m.user_id) ON CONFLICT DO NOTHING`,
    [play.space.uuid, dayAhead()],
  )
}
