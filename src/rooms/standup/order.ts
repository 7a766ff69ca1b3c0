import { sql } from '../../db/sql.ts'
import type { Turn } from '../live/event-payloads.ts'
import type { Fact, Step } from '../room/change.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import type { StandupRoom } from './standup-room.ts'

type Place = Pick<LockedRoom, 'orgId' | 'id'>

/** Who speaks in which order, as of now. */
export function readOrder({ orgId, id }: Place): Promise<Turn[]> {
  return sql<Turn>`
    SELECT user_id AS "userId", spoken_at IS NOT NULL AS spoken, skipped
    FROM rooms.standup_entries WHERE org_id = ${orgId} AND room_id = ${id} AND speak_order IS NOT NULL
    ORDER BY speak_order, user_id`
}

/** That the order is another one now; read after it was written. */
export async function orderStep(room: Place, told?: Fact): Promise<Step> {
  return { type: 'OrderChanged', payload: { order: await readOrder(room) }, ...(told && { fact: told }) }
}

/**
 * Puts somebody of the room at the end of the order while people speak (ROOM-93); whoever is in it already, or has spoken,
 * stays where they are. Nobody's turn changes: after the last speaker the hosts go on with those who came later.
 */
export async function appendToOrder(room: StandupRoom, userId: string): Promise<Step[]> {
  if (room.phase !== 'speak') return []
  const appended = await sql`
    INSERT INTO rooms.standup_entries AS e (org_id, room_id, user_id, speak_order)
    SELECT ${room.orgId}::uuid, ${room.id}::uuid, who.user_id, (
      SELECT coalesce(max(speak_order), 0) + 1 FROM rooms.standup_entries
      WHERE org_id = ${room.orgId} AND room_id = ${room.id})
    FROM rooms.room_people(${room.id}) AS who
    WHERE who.user_id = ${userId} AND (who.kind = 'member' OR who.can_vote)
    ON CONFLICT (org_id, room_id, user_id) DO UPDATE SET speak_order = excluded.speak_order
      WHERE e.speak_order IS NULL AND e.spoken_at IS NULL
    RETURNING 1`
  return appended.length > 0 ? [await orderStep(room)] : []
}

/** Clears who spoke and who would have: the next speaking has a fresh order (ROOM-33, 97). */
export async function clearOrder({ orgId, id }: Place): Promise<void> {
  await sql`
    UPDATE rooms.standup_entries SET speak_order = NULL, spoken_at = NULL
    WHERE org_id = ${orgId} AND room_id = ${id} AND (speak_order IS NOT NULL OR spoken_at IS NOT NULL)`
}
