import { sql, sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import type { ParticipantColumns, RoomEventPayloads } from '../live/event-payloads.ts'
import { fact, type Step } from './change.ts'
import { participantJoined, participantLeft } from './events.ts'
import type { LockedRoom } from './lock-room.ts'

const PARTICIPANTS_MAX = 200

export type LeaveReason = RoomEventPayloads['ParticipantLeft']['reason']

/**
 * Takes the caller among the participants at their first coming; beyond the cap the oldest joiner goes, never a host
 * (ROOM-50, 51). The room's lock makes parallel first comings one.
 */
export async function joinSteps(caller: UserCaller, room: LockedRoom): Promise<Step[]> {
  const guest = room.me.kind === 'guest'
  const [joined] = await sql<{ joinedAt: string }>`
    INSERT INTO rooms.room_participants (org_id, room_id, user_id, joined_at)
    VALUES (${room.orgId}, ${room.id}, ${caller.userId}, clock_timestamp())
    ON CONFLICT DO NOTHING RETURNING joined_at::text AS "joinedAt"`
  if (!joined) return []
  const participant = {
    userId: caller.userId,
    guest,
    spectator: room.me.spectator,
    cofacilitator: false,
    joinedAt: joined.joinedAt,
  }
  const dropped = await dropOldest(room)
  return [
    ...dropped.map((userId) => leftStep(userId, 'CAP')),
    {
      type: 'ParticipantJoined',
      payload: { participant },
      fact: fact(participantJoined, { userId: caller.userId, guest }),
    },
  ]
}

async function dropOldest({ orgId, id, facilitatorId }: LockedRoom): Promise<string[]> {
  const { surplus } = await sqlOne<{ surplus: number }>`
    SELECT greatest(count(*) - ${PARTICIPANTS_MAX}::integer, 0)::integer AS surplus
    FROM rooms.room_participants WHERE org_id = ${orgId} AND room_id = ${id}`
  if (surplus === 0) return []
  const gone = await sql<{ user_id: string }>`
    DELETE FROM rooms.room_participants
    WHERE org_id = ${orgId} AND room_id = ${id} AND user_id IN (
      SELECT user_id FROM rooms.room_participants
      WHERE org_id = ${orgId} AND room_id = ${id} AND NOT cofacilitator AND user_id IS DISTINCT FROM ${facilitatorId}
      ORDER BY joined_at, user_id LIMIT ${surplus})
    RETURNING user_id`
  return gone.map(({ user_id }) => user_id)
}

export function leftStep(userId: string, reason: LeaveReason): Step {
  return { type: 'ParticipantLeft', payload: { userId, reason }, fact: fact(participantLeft, { userId, reason }) }
}

/** What a participant is now, null for somebody who is none. */
export async function participantIn({ orgId, id }: LockedRoom, userId: string): Promise<ParticipantColumns | null> {
  const [row] = await sql<ParticipantColumns>`
    SELECT p.user_id AS "userId", coalesce(who.kind = 'guest', false) AS guest, coalesce(who.spectator, true) AS spectator,
      p.cofacilitator, p.joined_at::text AS "joinedAt"
    FROM rooms.room_participants AS p LEFT JOIN rooms.room_people(${id}) AS who ON who.user_id = p.user_id
    WHERE p.org_id = ${orgId} AND p.room_id = ${id} AND p.user_id = ${userId}`
  return row ?? null
}
