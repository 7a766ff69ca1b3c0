import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { attachToRoom } from './presence.ts'

type Heartbeat = { roomId: string; connectionId: string }

/**
 * Keeps a connection present and, if the caller leads the room, the lead theirs (ROOM-41, 52). One that fell silent for
 * too long, or whose participant row could not be written, attaches anew (ROOM-50).
 */
export async function sendHeartbeat(
  caller: UserCaller,
  { roomId, connectionId }: Heartbeat,
): Promise<{ roomId: string }> {
  const { orgId, userId, embedded } = caller
  const alive = await sql`
    UPDATE rooms.room_presence SET last_seen_at = clock_timestamp()
    WHERE org_id = ${orgId} AND room_id = ${roomId} AND connection_id = ${connectionId} AND user_id = ${userId}
      AND EXISTS (SELECT FROM rooms.room_participants AS p
                  WHERE p.org_id = ${orgId} AND p.room_id = ${roomId} AND p.user_id = ${userId})
    RETURNING 1`
  if (alive.length === 0) await attachToRoom(caller, roomId, connectionId)
  // From a meeting client it is no sign of life (ROOM-22).
  if (!embedded) {
    await sql`
      UPDATE rooms.rooms SET facilitator_seen_at = clock_timestamp()
      WHERE org_id = ${orgId} AND id = ${roomId} AND facilitator_id = ${userId}`
  }
  return { roomId }
}
