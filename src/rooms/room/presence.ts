import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { appendToOrder } from '../standup/order.ts'
import { isStandup } from '../standup/standup-room.ts'
import { mayHost } from './access.ts'
import { change } from './change.ts'
import { completeWithout } from './complete-without.ts'
import { facilitatorStep } from './facilitator.ts'
import { holdMembershipOfRoom } from './hold-membership.ts'
import { type LockedRoom, lockRoom } from './lock-room.ts'
import { joinSteps } from './participants.ts'

const MOST_CONNECTIONS = 10

/**
 * Makes the caller present by this connection, and a participant the first time (ROOM-50). In a room that nobody leads
 * the first to come who may host does (ROOM-43). Nobody is refused because of connections they had before (ROOM-53). In
 * an org that takes no writes whoever sees the room may follow it, and nobody comes or goes (ID-59).
 */
export async function attachToRoom(
  caller: UserCaller,
  roomId: string,
  connectionId: string,
): Promise<{ spaceId: string }> {
  const [, room] = await Promise.all([holdMembershipOfRoom(caller, roomId), lockRoom(caller, roomId)])
  if (room.orgIsQuiet) return { spaceId: room.spaceId }
  await putPresence(caller, room, connectionId)
  const steps = await joinSteps(caller, room)
  if (room.facilitatorId === null && mayHost(caller)) steps.push(facilitatorStep(room, caller.userId, 'AUTO'))
  if (isStandup(room) && !room.me.spectator) steps.push(...(await appendToOrder(room, caller.userId)))
  await change(caller, room, steps)
  return { spaceId: room.spaceId }
}

/**
 * Ends one connection. Of a person with another one open nothing changes (ROOM-52), nor in an org that takes no writes:
 * its rounds stay as they are.
 */
export async function detachFromRoom(caller: UserCaller, roomId: string, connectionId: string): Promise<void> {
  const gone = await sql`
    DELETE FROM rooms.room_presence
    WHERE org_id = ${caller.orgId} AND room_id = ${roomId} AND connection_id = ${connectionId}
      AND user_id = ${caller.userId} RETURNING 1`
  if (gone.length > 0) await completeWithout(caller, roomId)
}

/**
 * Keeps connections of the org alive that no client keeps alive itself. Gives those that are present no longer, since
 * the server was away for longer than the TTL.
 */
export async function refreshPresence(orgId: string, connectionIds: readonly string[]): Promise<string[]> {
  const kept = await sql<{ connection_id: string }>`
    UPDATE rooms.room_presence SET last_seen_at = clock_timestamp()
    WHERE org_id = ${orgId} AND connection_id = ANY (${connectionIds}::uuid[]) RETURNING connection_id`
  const alive = new Set(kept.map(({ connection_id }) => connection_id))
  return connectionIds.filter((id) => !alive.has(id))
}

/** One row a connection; beyond ten of one person the one silent for longest goes. */
async function putPresence({ userId }: UserCaller, { orgId, id }: LockedRoom, connectionId: string): Promise<void> {
  const put = await sql`
    INSERT INTO rooms.room_presence AS p (org_id, room_id, connection_id, user_id, last_seen_at)
    VALUES (${orgId}, ${id}, ${connectionId}, ${userId}, clock_timestamp())
    ON CONFLICT (org_id, room_id, connection_id) DO UPDATE SET last_seen_at = excluded.last_seen_at
      WHERE p.user_id = excluded.user_id
    RETURNING 1`
  if (put.length === 0) throw new NotFoundError('connectionId')
  await sql`
    DELETE FROM rooms.room_presence
    WHERE org_id = ${orgId} AND room_id = ${id} AND connection_id IN (
      SELECT connection_id FROM rooms.room_presence
      WHERE org_id = ${orgId} AND room_id = ${id} AND user_id = ${userId} AND connection_id <> ${connectionId}
      ORDER BY last_seen_at DESC, connection_id DESC OFFSET ${MOST_CONNECTIONS - 1})`
}
