import { sql } from '../../db/sql.ts'
import type { LockedRoom } from './lock-room.ts'

/** Somebody of a room, as far as leading it goes. */
export type PersonOfRoom = {
  /** A human member who counts and whose role in the org is not viewer (ROOM-45). */
  mayHost: boolean
  isParticipant: boolean
  cofacilitator: boolean
}

/** Null for whoever is neither a member of the room's space, nor its guest, nor a participant: they are not there (ROOM-6). */
export async function personOfRoom({ orgId, id, spaceId }: LockedRoom, userId: string): Promise<PersonOfRoom | null> {
  const [row] = await sql<PersonOfRoom>`
    SELECT coalesce(u.type = 'human' AND NOT m.viewer, false) AS "mayHost", p.user_id IS NOT NULL AS "isParticipant",
      coalesce(p.cofacilitator, false) AS cofacilitator
    FROM identity.users AS u
    LEFT JOIN rooms.room_people(${id}) AS who ON who.user_id = u.id
    LEFT JOIN rooms.members AS m ON m.org_id = ${orgId} AND m.space_id = ${spaceId} AND m.user_id = u.id
    LEFT JOIN rooms.room_participants AS p ON p.org_id = ${orgId} AND p.room_id = ${id} AND p.user_id = u.id
    WHERE u.id = ${userId} AND (who.user_id IS NOT NULL OR p.user_id IS NOT NULL)`
  return row ?? null
}
