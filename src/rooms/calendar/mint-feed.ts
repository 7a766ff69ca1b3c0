import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { feedMinted } from './events.ts'
import { feedUrl } from './feed-url.ts'
import { newToken } from './token.ts'

/** Makes an address for the caller's calendar; the one before opens nothing from then on (ROOM-140). */
export async function mintFeed(
  caller: SessionCaller,
  { remindMinutes }: { remindMinutes: number },
): Promise<{ url: string }> {
  const { orgId, userId } = caller
  await holdMembership(caller)
  const { token, hash, prefix } = newToken()
  await sql`
    INSERT INTO rooms.ics_feed_tokens (org_id, user_id, token_hash, lookup_prefix, remind_minutes)
    VALUES (${orgId}, ${userId}, ${hash}, ${prefix}, ${remindMinutes})
    ON CONFLICT (org_id, user_id) DO UPDATE
    SET token_hash = ${hash}, lookup_prefix = ${prefix}, remind_minutes = ${remindMinutes}, revoked_at = NULL`
  await record(caller, feedMinted, { privateUserId: userId, payload: {} })
  return { url: feedUrl(token) }
}

/** A revocation of the membership waits and ends the feed, or came first and is seen: no address outlives it. */
async function holdMembership({ orgId, userId }: SessionCaller): Promise<void> {
  const live = await sql`
    SELECT FROM identity.memberships
    WHERE org_id = ${orgId} AND user_id = ${userId} AND joined_at IS NOT NULL AND revoked_at IS NULL FOR SHARE`
  if (live.length === 0) throw new ForbiddenError()
}
