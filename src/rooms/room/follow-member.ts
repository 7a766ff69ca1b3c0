import { sql } from '../../db/sql.ts'
import type { Actor } from '../../platform/index.ts'
import { revealIfComplete } from '../poker/reveal-if-complete.ts'
import { waitingForIds } from '../poker/waiting.ts'
import { withdrawVote } from '../poker/withdraw-vote.ts'
import { change, type Step } from './change.ts'
import { dropCofacilitator } from './cofacilitators.ts'
import { reassignedStep } from './facilitator.ts'
import { type LockedRoom, lockRoomAsSystem } from './lock-room.ts'
import { participantIn } from './participants.ts'

export type MemberChange = {
  orgId: string
  spaceIds: readonly string[]
  userId: string
  /** What they are from now on, by their own flag or because of their role in the org (ROOM-21, 22). */
  spectator: boolean
  setBy: 'flag' | 'role'
  mayHost: boolean
}

/**
 * Follows a change of what a member may do through the rooms of their spaces: a new spectator's vote in an open round is
 * withdrawn, who may host no longer leads no longer, and a round that waited for nobody else is complete. Says whether a
 * vote was withdrawn. All rooms that go on are locked, so that no vote cast meanwhile escapes.
 */
export async function followMember(actor: Actor, member: MemberChange): Promise<boolean> {
  let withdrawn = false
  for (const { id, watches } of await roomsToLook(member)) {
    const room = await lockRoomAsSystem(member.orgId, id)
    if (!room) continue
    // Whoever watches by their own flag was a spectator before their role made them one.
    const differs = member.setBy === 'flag' || !watches
    const steps = await stepsFor(room, member, differs)
    withdrawn ||= steps.some(({ type }) => type === 'VoteCleared')
    await change(actor, room, steps)
  }
  return withdrawn
}

function roomsToLook({ orgId, spaceIds, userId }: MemberChange): Promise<{ id: string; watches: boolean }[]> {
  return sql`
    SELECT r.id, m.spectator AS watches
    FROM rooms.rooms AS r
    JOIN rooms.space_members AS m ON m.org_id = r.org_id AND m.space_id = r.space_id AND m.user_id = ${userId}
    WHERE r.org_id = ${orgId} AND r.space_id = ANY (${spaceIds}::uuid[]) AND (
      r.ended_at IS NULL OR r.facilitator_id = ${userId}
      OR EXISTS (SELECT FROM rooms.room_participants AS p
                 WHERE p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = ${userId} AND p.cofacilitator)
      OR EXISTS (SELECT FROM rooms.room_presence AS p
                 WHERE p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = ${userId})
      OR NOT r.revealed AND r.current_story_id IS NOT NULL
        AND EXISTS (SELECT FROM rooms.round_voted(r.current_story_id) AS v WHERE v.user_id = ${userId}))
    ORDER BY r.id`
}

async function stepsFor(room: LockedRoom, member: MemberChange, differs: boolean): Promise<Step[]> {
  const { userId, spectator, mayHost } = member
  const steps: Step[] = []
  if (differs) {
    if (spectator) steps.push(...(await withdrawVote(room, userId)))
    const participant = await participantIn(room, userId)
    if (participant) steps.push({ type: 'ParticipantChanged', payload: { participant } })
    if (await isOnTheList(room, userId)) {
      steps.push({ type: 'RoundVotersChanged', payload: { waitingForIds: await waitingForIds(room) } })
    }
  }
  if (!mayHost) steps.push(...(await dropCofacilitator(room, userId)))
  if (!mayHost && room.facilitatorId === userId) steps.push(await reassignedStep(room))
  return differs && spectator ? [...steps, ...(await revealIfComplete(room))] : steps
}

/** With open voting the round waits for a list, which a spectator is skipped in and comes back to (ROOM-68). */
async function isOnTheList({ orgId, currentStoryId, revealed }: LockedRoom, userId: string): Promise<boolean> {
  if (currentStoryId === null || revealed) return false
  const listed = await sql`
    SELECT FROM rooms.round_voters WHERE org_id = ${orgId} AND story_id = ${currentStoryId} AND user_id = ${userId}`
  return listed.length > 0
}
