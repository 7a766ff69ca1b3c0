import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import { feedRevoked } from './events.ts'

/** Ends the caller's feed in the org; without one nothing happens (ROOM-4, 140). */
export async function revokeFeed(caller: SessionCaller): Promise<Record<never, never>> {
  const { orgId, userId } = caller
  const revoked = await sql`
    UPDATE rooms.ics_feed_tokens SET revoked_at = now()
    WHERE org_id = ${orgId} AND user_id = ${userId} AND revoked_at IS NULL RETURNING 1`
  if (revoked.length > 0) await record(caller, feedRevoked, { privateUserId: userId, payload: {} })
  return {}
}
