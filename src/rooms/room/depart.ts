import { sql } from '../../db/sql.ts'
import type { Actor } from '../../platform/index.ts'
import { revealIfComplete } from '../poker/reveal-if-complete.ts'
import { waitingForIds } from '../poker/waiting.ts'
import { leaveOrder } from '../standup/depart.ts'
import { change, type Step } from './change.ts'
import { cofacilitatorStep } from './cofacilitators.ts'
import { reassignedStep } from './facilitator.ts'
import { type LockedRoom, lockRoomsAsSystem } from './lock-room.ts'
import { type LeaveReason, leftStep } from './participants.ts'

export type Departure = { orgId: string; spaceIds: readonly string[]; userId: string; reason: LeaveReason }

/**
 * Takes somebody out of the rooms of spaces they are no member of any more, or of the one they are a guest of (ROOM-23):
 * those that go on, and ended ones that they lead, also beside the facilitator, or are connected to. Votes and entries
 * stay. Each room takes a version, on which its streams check their access.
 */
export async function departFromRooms(actor: Actor, { orgId, spaceIds, userId, reason }: Departure): Promise<void> {
  const rooms = await sql<{ id: string }>`
    SELECT r.id FROM rooms.rooms AS r
    WHERE r.org_id = ${orgId}
      AND (r.space_id = ANY (${spaceIds}::uuid[])
        OR r.id = (SELECT room_id FROM rooms.room_guests AS g WHERE g.org_id = ${orgId} AND g.user_id = ${userId}))
      AND (
        r.facilitator_id = ${userId}
        OR EXISTS (SELECT FROM rooms.room_participants AS p
                   WHERE p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = ${userId} AND p.cofacilitator)
        OR EXISTS (SELECT FROM rooms.room_presence AS p
                   WHERE p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = ${userId})
        OR r.ended_at IS NULL AND (
          EXISTS (SELECT FROM rooms.room_participants AS p
                  WHERE p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = ${userId})
          OR EXISTS (SELECT FROM rooms.round_voters AS w
                     WHERE w.org_id = r.org_id AND w.room_id = r.id AND w.user_id = ${userId})
          OR EXISTS (SELECT FROM rooms.standup_entries AS e
                     WHERE e.org_id = r.org_id AND e.room_id = r.id AND e.user_id = ${userId})))`
  const ids = rooms.map(({ id }) => id)
  for (const room of await lockRoomsAsSystem(orgId, ids)) {
    await change(actor, room, await departureSteps(room, [userId], reason))
  }
}

/**
 * What of people who depart together is left in a room, such as the guests of a revoked link: nothing that others wait
 * for. Taken out at once, so that no turn or lead goes from one of them to another.
 */
export async function departureSteps(
  room: LockedRoom,
  userIds: readonly string[],
  reason: LeaveReason,
): Promise<Step[]> {
  const left = await removeFromRoom(room, userIds)
  const steps: Step[] = userIds.filter((id) => left.tookPart.has(id)).map((id) => leftStep(id, reason))
  for (const id of left.ledBeside) steps.push(await cofacilitatorStep(room, id, false))
  if (room.facilitatorId !== null && userIds.includes(room.facilitatorId)) steps.push(await reassignedStep(room))
  if (left.waitedFor) {
    steps.push({ type: 'RoundVotersChanged', payload: { waitingForIds: await waitingForIds(room) } })
  }
  return [...steps, ...(await leaveOrder(room, userIds)), ...(await revealIfComplete(room))]
}

type Removed = { tookPart: ReadonlySet<string>; ledBeside: readonly string[]; waitedFor: boolean }
type Of = { userId: string }

async function removeFromRoom({ orgId, id, currentStoryId }: LockedRoom, userIds: readonly string[]): Promise<Removed> {
  const [present, participants, waited] = await Promise.all([
    sql<Of>`
      DELETE FROM rooms.room_presence
      WHERE org_id = ${orgId} AND room_id = ${id} AND user_id = ANY (${userIds}::uuid[]) RETURNING user_id AS "userId"`,
    sql<Of & { cofacilitator: boolean }>`
      DELETE FROM rooms.room_participants
      WHERE org_id = ${orgId} AND room_id = ${id} AND user_id = ANY (${userIds}::uuid[])
      RETURNING user_id AS "userId", cofacilitator`,
    sql<{ storyId: string }>`
      DELETE FROM rooms.round_voters AS w USING rooms.stories AS s
      WHERE w.org_id = ${orgId} AND w.room_id = ${id} AND w.user_id = ANY (${userIds}::uuid[])
        AND s.org_id = w.org_id AND s.id = w.story_id AND s.revealed_at IS NULL
      RETURNING w.story_id AS "storyId"`,
  ])
  return {
    tookPart: new Set([...present, ...participants].map(({ userId }) => userId)),
    ledBeside: participants.filter(({ cofacilitator }) => cofacilitator).map(({ userId }) => userId),
    waitedFor: waited.some(({ storyId }) => storyId === currentStoryId),
  }
}
