import { sql } from '../../db/sql.ts'
import type { Step } from '../room/change.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { orderStep } from './order.ts'
import { isStandup } from './standup-room.ts'
import { advance } from './turn.ts'

/**
 * People who departed come out of the order, and the turn of one of them goes on (ROOM-23). What they wrote stays, and so
 * does that somebody has spoken.
 */
export async function leaveOrder(room: LockedRoom, userIds: readonly string[]): Promise<Step[]> {
  if (!isStandup(room) || room.phase !== 'speak') return []
  const out = await sql`
    UPDATE rooms.standup_entries SET speak_order = NULL
    WHERE org_id = ${room.orgId} AND room_id = ${room.id} AND user_id = ANY (${userIds}::uuid[])
      AND speak_order IS NOT NULL AND spoken_at IS NULL RETURNING 1`
  const steps = out.length > 0 ? [await orderStep(room)] : []
  const { currentSpeakerId } = room
  const hadTurn = currentSpeakerId !== null && userIds.includes(currentSpeakerId)
  return hadTurn ? [...steps, ...(await advance(room, 'DEPARTED'))] : steps
}
