import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { change } from '../room/change.ts'
import { departureSteps } from '../room/depart.ts'
import { lockRoomAsSystem } from '../room/lock-room.ts'

const ROOMS_A_PASS = 100

type Place = { orgId: string; roomId: string }

/**
 * Guests whose link ran out are participants no longer: nobody waits for them, and the room is told (ROOM-66, 68). Votes
 * and entries stay (ROOM-76). `unit` runs one room's work and answers for its errors.
 */
export async function expireGuests(unit: (work: () => Promise<void>) => Promise<void>): Promise<void> {
  const rooms = await operation(
    'sweep',
    {},
    () => sql<Place>`
      SELECT org_id AS "orgId", room_id AS "roomId" FROM rooms.claim_expired_guests(${ROOMS_A_PASS})`,
  )
  for (const { orgId, roomId } of rooms) {
    await unit(() => operation('write', { orgId }, () => departExpired(orgId, roomId)))
  }
}

/** Another process may have been there first; the room's lock tells. */
async function departExpired(orgId: string, roomId: string): Promise<void> {
  const room = await lockRoomAsSystem(orgId, roomId)
  if (!room || room.endedAt !== null) return
  const expired = await sql<{ userId: string }>`
    SELECT g.user_id AS "userId"
    FROM rooms.room_guests AS g
    JOIN rooms.room_participants AS p ON p.org_id = g.org_id AND p.room_id = g.room_id AND p.user_id = g.user_id
    WHERE g.org_id = ${orgId} AND g.room_id = ${roomId} AND g.expires_at <= clock_timestamp() ORDER BY g.user_id`
  if (expired.length === 0) return
  const userIds = expired.map(({ userId }) => userId)
  await change({ kind: 'system', orgId }, room, await departureSteps(room, userIds, 'EXPIRED'))
}
