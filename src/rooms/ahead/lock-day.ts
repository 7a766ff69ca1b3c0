import { Temporal } from '@js-temporal/polyfill'
import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, invalidInput, NotFoundError } from '../../graphql/errors.ts'
import { instantFrom, slotClock } from '../schedule/clock.ts'
import { localDate, type SlotPattern, slotOn } from '../schedule/slots.ts'
import { findMembership } from '../space/membership.ts'

type Schedule = SlotPattern & { id: string; spaceId: string; nextOpenAt: string | null }

const DAYS_AHEAD = 7

/** Holds the schedule, so that its day does not open meanwhile; of another's space it is not there (ROOM-6). */
export async function lockSchedule({ orgId, userId }: UserCaller, scheduleId: string): Promise<Schedule> {
  const [schedule] = await sql<Schedule>`
    SELECT s.id, s.space_id AS "spaceId", s.weekdays, to_char(s.open_time, 'HH24:MI') AS "openTime", s.timezone,
      s.next_open_at::text AS "nextOpenAt"
    FROM rooms.standup_schedules AS s
    WHERE s.org_id = ${orgId} AND s.id = ${scheduleId} AND EXISTS (
      SELECT FROM rooms.members AS m WHERE m.org_id = s.org_id AND m.space_id = s.space_id AND m.user_id = ${userId})
    FOR SHARE OF s`
  if (!schedule) throw new NotFoundError('scheduleId')
  return schedule
}

/** Whoever watches answers nothing (ROOM-21, 22). */
export async function requireAnswerer({ orgId, userId }: UserCaller, { spaceId }: Schedule): Promise<void> {
  const own = await findMembership(orgId, spaceId, userId)
  if (!own) throw new NotFoundError('scheduleId')
  if (own.spectator || own.orgRole === 'viewer') throw new ForbiddenError('Spectators answer in no standup.')
}

/** A day with a slot that opens still, at most a week after today where the team is (ROOM-129). */
export async function requireDayAhead({ orgId }: UserCaller, schedule: Schedule, day: string): Promise<void> {
  const refusal = invalidInput('day', 'must be a day of the schedule that has not opened, at most 7 days ahead')
  const slot = slotOn(schedule, Temporal.PlainDate.from(day))
  if (!slot || schedule.nextOpenAt === null) throw refusal
  // A day has one slot, also where its time was set to a later one after that.
  const had = await sql`
    SELECT FROM rooms.standup_schedule_slots
    WHERE org_id = ${orgId} AND schedule_id = ${schedule.id} AND slot_date = ${day}::date`
  if (had.length > 0) throw refusal
  // What is due now opens in a moment; what was due before the schedule was saved never does.
  if (Temporal.Instant.compare(slot.opensAt, instantFrom(schedule.nextOpenAt)) < 0) throw refusal
  const today = localDate(schedule.timezone, await slotClock())
  if (today.until(slot.date, { largestUnit: 'days' }).days > DAYS_AHEAD) throw refusal
}
