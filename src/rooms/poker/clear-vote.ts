import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { change, noChange, type RoomChange } from '../room/change.ts'
import { type Ballot, openBallot } from './ballot.ts'
import { voteStep } from './vote-step.ts'

/** Takes the caller's vote back from the round on the table (ROOM-70). It completes no round: it is one vote less. */
export async function clearVote(caller: UserCaller, ballot: Ballot): Promise<RoomChange> {
  const { room, card } = await openBallot(caller, ballot)
  if (card === null) return noChange(room)

  const [, changed] = await Promise.all([
    sql`DELETE FROM rooms.votes WHERE org_id = ${room.orgId} AND story_id = ${ballot.storyId} AND user_id = ${caller.userId}`,
    change(caller, room, [voteStep('VoteCleared', room, caller.userId)]),
  ])
  return changed
}
