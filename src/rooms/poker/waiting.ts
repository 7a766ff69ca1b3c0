import { sql } from '../../db/sql.ts'
import type { Context } from '../../graphql/context.ts'
import { batchLoad } from '../../graphql/loads.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { hasOpenRound, type OpenRound } from './poker-room.ts'

type Waited = { userId: string; voted: boolean }

// Whom an open round waits for (ROOM-66): the present voters, or with open voting those of the snapshot taken when the
// round opened who still may vote. Asked for in two ways: by a change, of the round as it will be; by a room's fields,
// of the rounds on the tables of many rooms.

/** Whom the round waits for, and who of them has voted. */
export function waitedInRound({ orgId, id, config, currentStoryId: storyId }: OpenRound): Promise<Waited[]> {
  return sql<Waited>`
    SELECT p.user_id AS "userId", v.user_id IS NOT NULL AS voted
    FROM rooms.room_people(${id}) AS p
    LEFT JOIN rooms.round_voted(${storyId}) AS v ON v.user_id = p.user_id
    LEFT JOIN rooms.round_voters AS w ON w.org_id = ${orgId} AND w.story_id = ${storyId} AND w.user_id = p.user_id
    WHERE p.can_vote AND CASE WHEN ${config.openVoting}::boolean THEN w.user_id IS NOT NULL ELSE p.present END
    ORDER BY p.user_id`
}

/** Ids of those whose vote is missing in a round of the story on the table, nobody when it is revealed or empty. */
export async function waitingForIds(room: LockedRoom): Promise<string[]> {
  return hasOpenRound(room) ? missing(await waitedInRound(room)) : []
}

const waitedOnTables = batchLoad(async (roomIds: readonly string[]) => {
  const waited = await sql<Waited & { roomId: string }>`
    SELECT r.id AS "roomId", p.user_id AS "userId", v.user_id IS NOT NULL AS voted
    FROM rooms.rooms AS r
    CROSS JOIN LATERAL rooms.room_people(r.id) AS p
    LEFT JOIN LATERAL rooms.round_voted(r.current_story_id) AS v ON v.user_id = p.user_id
    LEFT JOIN rooms.round_voters AS w
      ON w.org_id = r.org_id AND w.story_id = r.current_story_id AND w.user_id = p.user_id
    WHERE r.id = ANY (${roomIds}::uuid[]) AND r.current_story_id IS NOT NULL AND NOT r.revealed AND p.can_vote
      AND CASE WHEN (r.config ->> 'openVoting')::boolean THEN w.user_id IS NOT NULL ELSE p.present END
    ORDER BY p.user_id`
  return Map.groupBy(waited, ({ roomId }) => roomId)
})

/** The same for a room's fields. */
export async function waitingIn(context: Context, roomId: string): Promise<string[]> {
  return missing((await waitedOnTables(context, roomId)) ?? [])
}

const missing = (waited: readonly Waited[]) => waited.filter(({ voted }) => !voted).map(({ userId }) => userId)
