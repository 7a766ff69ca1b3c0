import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { feedUpdated } from './events.ts'
import { ownFeed } from './own-feed.ts'

/** Sets how early the caller's calendar reminds; its address stays. */
export async function updateFeed(
  caller: SessionCaller,
  { remindMinutes }: { remindMinutes: number },
): Promise<Record<never, never>> {
  const { orgId, userId } = caller
  const changed = await sql`
    UPDATE rooms.ics_feed_tokens SET remind_minutes = ${remindMinutes}
    WHERE org_id = ${orgId} AND user_id = ${userId} AND revoked_at IS NULL AND remind_minutes <> ${remindMinutes}
    RETURNING 1`
  if (changed.length > 0) await record(caller, feedUpdated, { privateUserId: userId, payload: {} })
  else if (!(await ownFeed(caller))) throw new NotFoundError()
  return {}
}
