import { sql } from '../../db/sql.ts'
import { jittered } from '../../queue/retry.ts'
import { instantFrom, slotClock } from './clock.ts'
import type { DueStandup } from './open-slot.ts'

const PAUSE_MIN = 5_000
const PAUSE_MAX = 300_000

/**
 * Keeps the lease of a slot that could not be opened for as long as it is late already, 5 seconds at least and 5 minutes
 * at most: so each pause is twice the one before, whichever server tries.
 */
export async function postponeSlot({ orgId, scheduleId, opensAt }: DueStandup, worker: string): Promise<void> {
  const late = (await slotClock()).epochMilliseconds - instantFrom(opensAt).epochMilliseconds
  const pause = jittered(Math.min(Math.max(late, PAUSE_MIN), PAUSE_MAX))
  await sql`
    UPDATE rooms.standup_schedules SET locked_until = now() + make_interval(secs => ${pause / 1_000})
    WHERE org_id = ${orgId} AND id = ${scheduleId} AND locked_by = ${worker}`
}
