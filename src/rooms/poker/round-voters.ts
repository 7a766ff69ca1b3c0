import { sql } from '../../db/sql.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import type { OpenRound } from './poker-room.ts'

const VOTERS_MAX = 200

/**
 * Takes the snapshot of whom a round of open voting waits for (ROOM-67): participants who may vote come in, the
 * facilitator first, then who joined last. Who was in it stays, also while a spectator (ROOM-68); who is no participant
 * any more, or a guest whose time is over, goes.
 */
export async function snapshotVoters({ orgId, id, facilitatorId }: LockedRoom, storyId: string): Promise<void> {
  await Promise.all([
    sql`
      DELETE FROM rooms.round_voters AS w
      WHERE w.org_id = ${orgId} AND w.story_id = ${storyId} AND NOT EXISTS (
        SELECT FROM rooms.room_participants AS r
        JOIN rooms.room_people(${id}) AS p ON p.user_id = r.user_id AND (p.can_vote OR p.spectator)
        WHERE r.org_id = w.org_id AND r.room_id = w.room_id AND r.user_id = w.user_id)`,
    sql`
      INSERT INTO rooms.round_voters (org_id, room_id, story_id, user_id)
      SELECT r.org_id, r.room_id, ${storyId}::uuid, r.user_id
      FROM rooms.room_participants AS r
      JOIN rooms.room_people(${id}) AS p ON p.user_id = r.user_id AND p.can_vote
      WHERE r.org_id = ${orgId} AND r.room_id = ${id} AND NOT EXISTS (
        SELECT FROM rooms.round_voters AS w
        WHERE w.org_id = r.org_id AND w.story_id = ${storyId} AND w.user_id = r.user_id)
      ORDER BY r.user_id IS NOT DISTINCT FROM ${facilitatorId} DESC, r.joined_at DESC, r.user_id
      LIMIT greatest(0, ${VOTERS_MAX} - (
        SELECT count(*) FROM rooms.round_voters AS w WHERE w.org_id = ${orgId} AND w.story_id = ${storyId}))`,
  ])
}

/** Guests whose time is over, or whose link is, are out of the snapshot from now on; says whether there were any. */
export async function dropLapsedGuests({ orgId, id, currentStoryId }: OpenRound): Promise<boolean> {
  const gone = await sql`
    DELETE FROM rooms.round_voters AS w USING rooms.room_people(${id}) AS p
    WHERE w.org_id = ${orgId} AND w.story_id = ${currentStoryId} AND p.user_id = w.user_id
      AND p.kind = 'guest' AND NOT p.can_vote
    RETURNING 1`
  return gone.length > 0
}
