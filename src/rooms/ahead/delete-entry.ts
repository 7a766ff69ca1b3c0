import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import { aheadSaved } from './events.ts'
import { lockSchedule } from './lock-day.ts'
import type { AheadDay } from './save-entry.ts'

/** Takes the caller's own answer of a day back, where there is one that was not used. */
export async function deleteAheadEntry(caller: UserCaller, { scheduleId, day }: AheadDay): Promise<AheadDay> {
  const { orgId, userId } = caller
  await lockSchedule(caller, scheduleId)
  const deleted = await sql`
    DELETE FROM rooms.standup_ahead_entries
    WHERE org_id = ${orgId} AND schedule_id = ${scheduleId} AND day = ${day}::date AND user_id = ${userId} RETURNING 1`
  if (deleted.length > 0) await record(caller, aheadSaved, { privateUserId: userId, payload: {} })
  return { scheduleId, day }
}
