import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { lockRoom } from '../room/lock-room.ts'
import { requireActivePoker, requireOpenRound, requireVoter } from './access.ts'
import { RoundClosedError } from './errors.ts'
import type { OpenRound, PokerRoom } from './poker-room.ts'

export type Ballot = { roomId: string; storyId: string; roundVersion: bigint }

/**
 * The room, locked, when the caller may vote in that round of it, and the card they have there. A reveal waits for the
 * lock, so what is decided on it stays true until the commit (ROOM-71).
 */
export async function openBallot(
  caller: UserCaller,
  { roomId, storyId, roundVersion }: Ballot,
): Promise<{ room: OpenRound; card: string | null }> {
  const [room, own] = await Promise.all([
    lockRoom(caller, roomId),
    sql<{ card: string }>`
      SELECT card FROM rooms.votes
      WHERE org_id = ${caller.orgId} AND story_id = ${storyId} AND user_id = ${caller.userId}`,
  ])
  requireVoter(room)
  requireActivePoker(room)
  if (room.currentStoryId !== storyId) await refuseStory(room, storyId)
  requireOpenRound(room, roundVersion)
  return { room, card: own[0]?.card ?? null }
}

/** A story of the room that is not on its table has no open round; one of elsewhere is not there (ROOM-6). */
async function refuseStory(room: PokerRoom, storyId: string): Promise<never> {
  const [story] = await sql`
    SELECT FROM rooms.stories WHERE org_id = ${room.orgId} AND room_id = ${room.id} AND id = ${storyId}`
  throw story ? new RoundClosedError(room) : new NotFoundError('storyId')
}
