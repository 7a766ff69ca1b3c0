import { sql } from '../../db/sql.ts'
import type { Actor } from '../../platform/index.ts'
import { revealIfComplete } from '../poker/reveal-if-complete.ts'
import { waitingForIds } from '../poker/waiting.ts'
import { change, type Step } from './change.ts'
import { cofacilitatorStep } from './cofacilitators.ts'
import { reassignedStep } from './facilitator.ts'
import { type LockedRoom, lockRoomsAsSystem } from './lock-room.ts'
import { type LeaveReason, leftStep } from './participants.ts'

export type Departure = { orgId: string; spaceIds: readonly string[]; userId: string; reason: LeaveReason }

/**
 * Takes somebody out of the rooms of spaces they are no member of any more (ROOM-23): those that go on, and ended ones
 * that they lead, also beside the facilitator, or are connected to. Votes stay. Each room takes a version, on which its streams check their access.
 */
export async function departFromRooms(actor: Actor, { orgId, spaceIds, userId, reason }: Departure): Promise<void> {
  const rooms = await sql<{ id: string }>`
    SELECT r.id FROM rooms.rooms AS r
    WHERE r.org_id = ${orgId} AND r.space_id = ANY (${spaceIds}::uuid[]) AND (
      r.facilitator_id = ${userId}
      OR EXISTS (SELECT FROM rooms.room_participants AS p
                 WHERE p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = ${userId} AND p.cofacilitator)
      OR EXISTS (SELECT FROM rooms.room_presence AS p
                 WHERE p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = ${userId})
      OR r.ended_at IS NULL AND (
        EXISTS (SELECT FROM rooms.room_participants AS p
                WHERE p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = ${userId})
        OR EXISTS (SELECT FROM rooms.round_voters AS w
                   WHERE w.org_id = r.org_id AND w.room_id = r.id AND w.user_id = ${userId})))`
  const ids = rooms.map(({ id }) => id)
  for (const room of await lockRoomsAsSystem(orgId, ids)) {
    await change(actor, room, await departureSteps(room, userId, reason))
  }
}

async function departureSteps(room: LockedRoom, userId: string, reason: LeaveReason): Promise<Step[]> {
  const left = await removeFromRoom(room, userId)
  const steps: Step[] = left.took_part ? [leftStep(userId, reason)] : []
  if (left.led_beside) steps.push(await cofacilitatorStep(room, userId, false))
  if (room.facilitatorId === userId) steps.push(await reassignedStep(room))
  if (left.waited_for) {
    steps.push({ type: 'RoundVotersChanged', payload: { waitingForIds: await waitingForIds(room) } })
  }
  return [...steps, ...(await revealIfComplete(room))]
}

type Removed = { took_part: boolean; led_beside: boolean; waited_for: boolean }

async function removeFromRoom({ orgId, id, currentStoryId }: LockedRoom, userId: string): Promise<Removed> {
  const [present, participant, waited] = await Promise.all([
    sql`DELETE FROM rooms.room_presence WHERE org_id = ${orgId} AND room_id = ${id} AND user_id = ${userId} RETURNING 1`,
    sql<{ cofacilitator: boolean }>`
      DELETE FROM rooms.room_participants
      WHERE org_id = ${orgId} AND room_id = ${id} AND user_id = ${userId} RETURNING cofacilitator`,
    sql<{ story_id: string }>`
      DELETE FROM rooms.round_voters AS w USING rooms.stories AS s
      WHERE w.org_id = ${orgId} AND w.room_id = ${id} AND w.user_id = ${userId}
        AND s.org_id = w.org_id AND s.id = w.story_id AND s.revealed_at IS NULL
      RETURNING w.story_id`,
  ])
  return {
    took_part: present.length + participant.length > 0,
    led_beside: participant.some(({ cofacilitator }) => cofacilitator),
    waited_for: waited.some(({ story_id }) => story_id === currentStoryId),
  }
}
