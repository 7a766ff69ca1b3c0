import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'

/** What a person is shown of their feed. Its address was shown once. */
export type Feed = { remindMinutes: number; createdAt: string }

/** The caller's feed in the org; null without one, or when it was revoked. */
export async function ownFeed({ orgId, userId }: Pick<SessionCaller, 'orgId' | 'userId'>): Promise<Feed | null> {
  const [feed] = await sql<Feed>`
    SELECT remind_minutes AS "remindMinutes", created_at::text AS "createdAt" FROM rooms.ics_feed_tokens
    WHERE org_id = ${orgId} AND user_id = ${userId} AND revoked_at IS NULL`
  return feed ?? null
}
