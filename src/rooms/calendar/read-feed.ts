import { createHash } from 'node:crypto'
import { operation } from '../../db/operation.ts'
import { sql, sqlAlone } from '../../db/sql.ts'
import { publicHost } from './feed-url.ts'
import { isSame, presented } from './token.ts'
import { type Meeting, writeCalendar } from './write-calendar.ts'

/** Whose feed an address is. */
export type FeedHolder = { orgId: string; userId: string; remindMinutes: number }
export type WrittenFeed = { text: string; etag: string }

const preauthSql = sqlAlone('preauth', {})

/** Whose feed an address opens; null for one that is unknown, malformed or revoked, all alike (ROOM-141). */
export async function findFeed(token: string): Promise<FeedHolder | null> {
  const asked = presented(token)
  const [row] = await preauthSql<FeedHolder & { tokenHash: Buffer }>`
    SELECT org_id AS "orgId", user_id AS "userId", token_hash AS "tokenHash", remind_minutes AS "remindMinutes"
    FROM rooms.preauth_ics_token(${asked.prefix})`
  if (!isSame(asked, row?.tokenHash) || !row) return null
  const { orgId, userId, remindMinutes } = row
  return { orgId, userId, remindMinutes }
}

/** What the person may read at this moment, as that person; null when the org or their place in it is gone. */
export async function readFeed({ orgId, userId, remindMinutes }: FeedHolder): Promise<WrittenFeed | null> {
  const meetings = await operation('read', { orgId, userId }, async () =>
    (await readsTheOrg(orgId, userId)) ? meetingsOf(orgId, userId) : null,
  )
  if (!meetings) return null
  const text = writeCalendar({ meetings, remindMinutes, host: publicHost() })
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` }
}

/** Archived orgs are read; nobody reads one that is on its way out (ID-59, 63). */
async function readsTheOrg(orgId: string, userId: string): Promise<boolean> {
  const member = await sql`
    SELECT FROM identity.memberships AS m
    JOIN identity.users AS u ON u.id = m.user_id AND u.status = 'active'
    JOIN identity.orgs AS o ON o.id = m.org_id AND o.status IN ('active', 'archived')
    WHERE m.org_id = ${orgId} AND m.user_id = ${userId} AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL`
  return member.length > 0
}

function meetingsOf(orgId: string, userId: string): Promise<Meeting[]> {
  return sql<Meeting>`
    SELECT schedule.id AS "scheduleId", s.name AS "spaceName", schedule.weekdays,
      to_char(schedule.open_time, 'HH24:MI') AS "openTime", schedule.timezone,
      schedule.window_minutes AS "windowMinutes", schedule.revision, schedule.starts_on::text AS "startsOn",
      schedule.updated_at AS "updatedAt"
    FROM rooms.members AS m
    JOIN rooms.spaces AS s ON s.org_id = m.org_id AND s.id = m.space_id
    JOIN rooms.standup_schedules AS schedule ON schedule.org_id = m.org_id AND schedule.space_id = m.space_id
    WHERE m.org_id = ${orgId} AND m.user_id = ${userId} AND schedule.enabled AND schedule.starts_on IS NOT NULL
    ORDER BY schedule.id`
}
