import { sql, sqlOne } from '../../db/sql.ts'
import { fact, type Step } from './change.ts'
import { cofacilitatorSet } from './events.ts'
import type { LockedRoom } from './lock-room.ts'

/** Tells who leads beside the facilitator, once somebody's flag has risen or fallen. */
export async function cofacilitatorStep(room: LockedRoom, userId: string, on: boolean): Promise<Step> {
  const rows = await sql<{ user_id: string }>`
    SELECT user_id FROM rooms.room_participants
    WHERE org_id = ${room.orgId} AND room_id = ${room.id} AND cofacilitator ORDER BY joined_at, user_id`
  return {
    type: 'CofacilitatorsChanged',
    payload: { userIds: rows.map(({ user_id }) => user_id) },
    fact: fact(cofacilitatorSet, { userId, on }),
  }
}

/** Whoever may host no longer leads no longer, beside the facilitator neither (ROOM-45). */
export async function dropCofacilitator(room: LockedRoom, userId: string): Promise<Step[]> {
  return (await markCofacilitator(room, userId, false)) ? [await cofacilitatorStep(room, userId, false)] : []
}

/** Sets the flag of a participant; says whether it was another. */
export async function markCofacilitator({ orgId, id }: LockedRoom, userId: string, on: boolean): Promise<boolean> {
  const marked = await sql`
    UPDATE rooms.room_participants SET cofacilitator = ${on}
    WHERE org_id = ${orgId} AND room_id = ${id} AND user_id = ${userId} AND cofacilitator <> ${on} RETURNING 1`
  return marked.length > 0
}

export async function countCofacilitators({ orgId, id }: LockedRoom): Promise<number> {
  const { count } = await sqlOne<{ count: number }>`
    SELECT count(*)::integer AS count FROM rooms.room_participants
    WHERE org_id = ${orgId} AND room_id = ${id} AND cofacilitator`
  return count
}
