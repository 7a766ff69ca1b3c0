import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import { ENTRY_TEXTS, type EntryText } from '../standup/entry.ts'
import { aheadSaved } from './events.ts'
import { lockSchedule, requireAnswerer, requireDayAhead } from './lock-day.ts'

type SaveAhead = { scheduleId: string; day: string } & { [K in keyof EntryText]?: string | undefined }
export type AheadDay = { scheduleId: string; day: string }

/** Writes the caller's answer of a day that has not opened; what is left out stays (ROOM-129). */
export async function saveAheadEntry(caller: UserCaller, { scheduleId, day, ...given }: SaveAhead): Promise<AheadDay> {
  const { orgId, userId } = caller
  const schedule = await lockSchedule(caller, scheduleId)
  await requireAnswerer(caller, schedule)
  await requireDayAhead(caller, schedule, day)
  // Two at once of one person meet here, and leave one row.
  await sql`SELECT FROM rooms.space_members WHERE org_id = ${orgId} AND space_id = ${schedule.spaceId}
    AND user_id = ${userId} FOR NO KEY UPDATE`
  const [before] = await sql<EntryText>`
    SELECT yesterday, today, blockers FROM rooms.standup_ahead_entries
    WHERE org_id = ${orgId} AND schedule_id = ${scheduleId} AND day = ${day}::date AND user_id = ${userId}`
  const text = { yesterday: '', today: '', blockers: '', ...before, ...withoutAbsent(given) }
  if (ENTRY_TEXTS.every((field) => text[field] === (before?.[field] ?? ''))) return { scheduleId, day }

  await sql`
    INSERT INTO rooms.standup_ahead_entries (org_id, schedule_id, day, user_id, yesterday, today, blockers)
    VALUES (${orgId}, ${scheduleId}, ${day}::date, ${userId}, ${text.yesterday}, ${text.today}, ${text.blockers})
    ON CONFLICT (org_id, schedule_id, day, user_id) DO UPDATE
      SET yesterday = excluded.yesterday, today = excluded.today, blockers = excluded.blockers`
  await record(caller, aheadSaved, { privateUserId: userId, payload: {} })
  return { scheduleId, day }
}

const withoutAbsent = (given: { [K in keyof EntryText]?: string | undefined }): Partial<EntryText> =>
  Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined))
