import type { Step } from '../room/change.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { hasOpenRound } from './poker-room.ts'
import { reveal } from './reveal.ts'
import { waitedInRound } from './waiting.ts'

/**
 * The reveal of a round that is complete, in rooms that ask for it (ROOM-66, 73): somebody is waited for, and all of them
 * have voted. Called after any change that could complete it, with the room as the steps before this one leave it.
 */
export async function revealIfComplete(room: LockedRoom): Promise<Step[]> {
  if (!hasOpenRound(room) || !room.config.autoReveal || room.endedAt !== null) return []
  const waited = await waitedInRound(room)
  const complete = waited.length > 0 && waited.every(({ voted }) => voted)
  return complete ? [await reveal(room, 'AUTO')] : []
}
