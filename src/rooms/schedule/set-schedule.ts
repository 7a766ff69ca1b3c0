import { sql, sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { invalidInput } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import { requireOwner } from '../space/membership.ts'
import { slotClock } from './clock.ts'
import { scheduleSaved } from './events.ts'
import { type SlotPattern, slotAfter } from './slots.ts'
import { canonicalZone } from './zones.ts'

type ScheduleSettings = SlotPattern & { windowMinutes: number; enabled: boolean }
type SetSchedule = ScheduleSettings & { spaceId: string }
type Saved = ScheduleSettings & { id: string; updatedBy: string | null; revision: number }

const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/

/**
 * Saves the one schedule of a space (ROOM-120). What opens next is the first slot after now, so that an edit after today's
 * time opens nothing at once (ROOM-123). Saving again what is saved already changes nothing.
 */
export async function setSchedule(
  caller: UserCaller,
  { spaceId, ...given }: SetSchedule,
): Promise<{ spaceId: string }> {
  const { orgId, userId } = caller
  const { slug } = await requireOwner(caller, spaceId, 'spaceId')
  const settings = checked(given)
  const before = await lockSchedule(orgId, spaceId)
  if (before && before.updatedBy === userId && isSame(before, settings)) return { spaceId }

  const { weekdays, openTime, timezone, windowMinutes, enabled } = settings
  const next = slotAfter(settings, await slotClock())
  const { id, revision } = await sqlOne<{ id: string; revision: number }>`
    INSERT INTO rooms.standup_schedules AS s (org_id, id, space_id, weekdays, open_time, timezone, window_minutes, enabled,
      updated_by, starts_on, next_open_at)
    VALUES (${orgId}, ${before?.id ?? newId()}, ${spaceId}, ${weekdays}::smallint[], ${openTime}::time, ${timezone},
      ${windowMinutes}, ${enabled}, ${userId}, ${next.date}::date, ${enabled ? next.opensAt.toString() : null})
    ON CONFLICT (org_id, space_id) DO UPDATE SET weekdays = excluded.weekdays, open_time = excluded.open_time,
      timezone = excluded.timezone, window_minutes = excluded.window_minutes, enabled = excluded.enabled,
      updated_by = excluded.updated_by, starts_on = excluded.starts_on, next_open_at = excluded.next_open_at,
      revision = s.revision + 1, locked_by = NULL, locked_until = NULL
    RETURNING id, revision`
  const target = { kind: 'StandupSchedule', id } as const
  await record(caller, scheduleSaved, { target, spaceId, spaceSlug: slug, payload: { enabled, revision } })
  return { spaceId }
}

/** Two first saves meet at the space; a save and an opening at the schedule, where the second sees what the first did. */
async function lockSchedule(orgId: string, spaceId: string): Promise<Saved | null> {
  await sql`SELECT FROM rooms.spaces WHERE org_id = ${orgId} AND id = ${spaceId} FOR NO KEY UPDATE`
  const [row] = await sql<Saved>`
    SELECT id, weekdays, to_char(open_time, 'HH24:MI') AS "openTime", timezone, window_minutes AS "windowMinutes", enabled,
      updated_by AS "updatedBy", revision
    FROM rooms.standup_schedules WHERE org_id = ${orgId} AND space_id = ${spaceId} FOR NO KEY UPDATE`
  return row ?? null
}

function checked({ weekdays, openTime, timezone, ...rest }: ScheduleSettings): ScheduleSettings {
  if (weekdays.length === 0) throw invalidInput('weekdays', 'must name a day')
  if (new Set(weekdays).size < weekdays.length) throw invalidInput('weekdays', 'must not name a day twice')
  if (!TIME_OF_DAY.test(openTime)) throw invalidInput('openTime', 'must be a time of day such as 09:30')
  const zone = canonicalZone(timezone)
  if (zone === null) throw invalidInput('timezone', 'must be one of timeZones, such as Europe/Berlin')
  return { weekdays: weekdays.toSorted((a, b) => a - b), openTime, timezone: zone, ...rest }
}

const isSame = (before: ScheduleSettings, { weekdays, openTime, timezone, windowMinutes, enabled }: ScheduleSettings) =>
  before.weekdays.join() === weekdays.join() &&
  before.openTime === openTime &&
  before.timezone === timezone &&
  before.windowMinutes === windowMinutes &&
  before.enabled === enabled
