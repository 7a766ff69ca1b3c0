import { sql } from '../../db/sql.ts'
import { change, type RoomChange, type Step } from '../room/change.ts'
import { type LockedRoom, lockRoomAsSystem } from '../room/lock-room.ts'
import { timerStoppedStep } from '../timer/steps.ts'
import { hasOpenRound } from './poker-room.ts'
import { reveal } from './reveal.ts'

/** What was due when the sweep looked: the end as the database writes it (`::text`, UTC), and the round at that time. */
export type ArmedReveal = { endsAt: string; roundVersion: bigint }

/**
 * Does what a timer's end asks for: reveals the round if it has a vote, and clears the timer (ROOM-81). Does nothing when
 * timer or round are no longer those that were due, so no delayed reveal reaches another round (ROOM-73). Runs in a write
 * operation of the org, without a person. Null: nothing was done.
 */
export async function revealByTimer(orgId: string, roomId: string, armed: ArmedReveal): Promise<RoomChange | null> {
  const room = await lockRoomAsSystem(orgId, roomId)
  if (room?.timerOnEnd !== 'reveal') return null
  if (room.timerEndsAt !== armed.endsAt || room.roundVersion !== armed.roundVersion) return null
  return change({ kind: 'system', orgId }, room, [...(await revealIfVoted(room)), ...timerStoppedStep(room)])
}

async function revealIfVoted(room: LockedRoom): Promise<Step[]> {
  if (!hasOpenRound(room) || room.endedAt !== null) return []
  const voted = await sql`SELECT user_id FROM rooms.round_voted(${room.currentStoryId}) LIMIT 1`
  return voted.length > 0 ? [await reveal(room, 'TIMER')] : []
}
