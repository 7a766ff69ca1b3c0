import { sql } from '../../db/sql.ts'
import type { Context } from '../../graphql/context.ts'
import { batchLoad } from '../../graphql/loads.ts'
import { groupBy } from '../room/loads.ts'

type Waited = { roomId: string; userId: string; voted: boolean }

/**
 * Whom the round on the table waits for, and who of them has voted (ROOM-66): the present voters, or with open voting
 * the snapshot taken when the round opened. Nobody when it is revealed or the table is empty.
 */
export async function waitedFor(roomIds: readonly string[]): Promise<Waited[]> {
  return sql<Waited>`
    SELECT r.id AS "roomId", p.user_id AS "userId",
      EXISTS (SELECT FROM rooms.round_voted(r.current_story_id) AS v WHERE v.user_id = p.user_id) AS voted
    FROM rooms.rooms AS r, LATERAL rooms.room_people(r.id) AS p
    WHERE r.id = ANY (${roomIds}::uuid[]) AND r.current_story_id IS NOT NULL AND NOT r.revealed AND p.can_vote
      AND CASE WHEN (r.config->>'openVoting')::boolean
        THEN EXISTS (SELECT FROM rooms.round_voters AS w
          WHERE w.org_id = r.org_id AND w.story_id = r.current_story_id AND w.user_id = p.user_id)
        ELSE p.present END
    ORDER BY p.user_id`
}

/** Ids of those whose vote is still missing. */
export async function waitingForIds(roomId: string): Promise<string[]> {
  return (await waitedFor([roomId])).filter(({ voted }) => !voted).map(({ userId }) => userId)
}

const waitedInRoom = batchLoad(async (ids: readonly string[]) => groupBy(await waitedFor(ids), ({ roomId }) => roomId))

/** The same for a room's fields, batched. */
export async function waitingIn(context: Context, roomId: string): Promise<string[]> {
  const waited = (await waitedInRoom(context, roomId)) ?? []
  return waited.filter(({ voted }) => !voted).map(({ userId }) => userId)
}
