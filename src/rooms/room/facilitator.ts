import { sql } from '../../db/sql.ts'
import type { RoomEventPayloads } from '../live/event-payloads.ts'
import { fact, type Step } from './change.ts'
import { facilitatorChanged } from './events.ts'
import type { LockedRoom } from './lock-room.ts'

type Reason = RoomEventPayloads['FacilitatorChanged']['reason']

/** Hands the lead over; whoever gets it counts as seen now (ROOM-41). */
export function facilitatorStep(
  { facilitatorId: previousId }: LockedRoom,
  facilitatorId: string | null,
  reason: Reason,
): Step {
  const payload = { facilitatorId, previousId, reason }
  return {
    type: 'FacilitatorChanged',
    payload,
    set: { facilitator_id: facilitatorId },
    fact: fact(facilitatorChanged, payload),
  }
}

/**
 * Gives the lead to whom ROOM-43 names, once the facilitator is out of the room's people or may host no longer: the
 * co-facilitator present for longest, else the member present for longest, else the owner seen latest, else nobody.
 */
export async function reassignedStep(room: LockedRoom): Promise<Step> {
  const [next] = await sql<{ user_id: string }>`
    SELECT who.user_id
    FROM rooms.room_people(${room.id}) AS who
    JOIN identity.users AS u ON u.id = who.user_id AND u.type = 'human'
    JOIN rooms.members AS m
      ON m.org_id = ${room.orgId} AND m.space_id = ${room.spaceId} AND m.user_id = who.user_id
    LEFT JOIN rooms.room_participants AS p
      ON p.org_id = m.org_id AND p.room_id = ${room.id} AND p.user_id = m.user_id
    WHERE who.kind = 'member' AND NOT m.viewer AND (who.present OR m.role = 'owner')
    ORDER BY who.present DESC, (who.present AND coalesce(p.cofacilitator, false)) DESC,
      CASE WHEN who.present THEN p.joined_at END, CASE WHEN NOT who.present THEN m.last_seen_at END DESC, who.user_id
    LIMIT 1`
  return facilitatorStep(room, next?.user_id ?? null, 'AUTO')
}
