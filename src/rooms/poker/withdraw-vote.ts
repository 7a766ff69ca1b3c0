import { sqlOne } from '../../db/sql.ts'
import type { Step } from '../room/change.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { hasOpenRound } from './poker-room.ts'
import { voteStep } from './vote-step.ts'

/**
 * Withdraws the vote that somebody who becomes a spectator has in the open round on the table (ROOM-21); no steps: they
 * had none. A round that now waits for nobody else is for `revealIfComplete`, once they are a spectator.
 */
export async function withdrawVote(room: LockedRoom, userId: string): Promise<Step[]> {
  if (!hasOpenRound(room)) return []
  const { cleared } = await sqlOne<{ cleared: number }>`
    SELECT rooms.round_clear(${room.currentStoryId}, ${userId}) AS cleared`
  return cleared > 0 ? [voteStep('VoteCleared', room, userId)] : []
}
