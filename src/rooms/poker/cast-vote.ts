import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { change, noChange, type RoomChange, type Step } from '../room/change.ts'
import { requireCard } from './access.ts'
import { type Ballot, openBallot } from './ballot.ts'
import type { OpenRound } from './poker-room.ts'
import { revealIfComplete } from './reveal-if-complete.ts'
import { dropLapsedGuests } from './round-voters.ts'
import { voteStep } from './vote-step.ts'
import { waitingForIds } from './waiting.ts'

export type CastVote = Ballot & { card: string }

/**
 * Casts or replaces the caller's vote in the round on the table (ROOM-69). A reveal waits for the room's lock, so an
 * acknowledged vote is always in the result (ROOM-71). Throws RoundClosed when the round moved on.
 */
export async function castVote(
  caller: UserCaller,
  { card, ...ballot }: CastVote,
): Promise<RoomChange & { card: string }> {
  const { room, card: previous } = await openBallot(caller, ballot)
  requireCard(room, card)
  if (card === previous) return { ...noChange(room), card }

  // Sent, not awaited one by one: what does not depend on an answer goes out in one trip.
  const [, changed] = await Promise.all([
    putVote(caller, room, card),
    followUp(room).then((steps) => change(caller, room, [voteStep('VoteCast', room, caller.userId), ...steps])),
  ])
  return { ...changed, card }
}

/** With open voting the next vote is when a guest whose time is over is waited for no longer (ROOM-68). */
async function followUp(room: OpenRound): Promise<Step[]> {
  const gone = room.config.openVoting && (await dropLapsedGuests(room))
  const waiting: Step[] = gone
    ? [{ type: 'RoundVotersChanged', payload: { waitingForIds: await waitingForIds(room) } }]
    : []
  return [...waiting, ...(await revealIfComplete(room))]
}

async function putVote({ userId }: UserCaller, room: OpenRound, card: string): Promise<void> {
  await sql`
    INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version)
    VALUES (${room.orgId}, ${room.id}, ${room.currentStoryId}, ${userId}, ${card}, ${room.roundVersion})
    ON CONFLICT (org_id, story_id, user_id)
    DO UPDATE SET card = excluded.card, round_version = excluded.round_version`
}
