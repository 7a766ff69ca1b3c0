import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { endLinkSessions } from '../../identity/index.ts'
import { requireHostOrOwner } from '../room/access.ts'
import { bothFacts, change, fact, noChange, type RoomChange, type Step } from '../room/change.ts'
import { departureSteps } from '../room/depart.ts'
import { lockRoom } from '../room/lock-room.ts'
import { linkRevoked } from './events.ts'

/** Ends a link and lets its guests out, with their sign-ins; what they left stays (ROOM-68, 76, 154). */
export async function revokeLink(caller: UserCaller, { id }: { id: string }): Promise<RoomChange & { linkId: string }> {
  const { orgId } = caller
  const [found] = await sql<{ roomId: string }>`
    SELECT room_id AS "roomId" FROM rooms.room_links WHERE org_id = ${orgId} AND id = ${id}`
  if (!found) throw new NotFoundError('id')
  const room = await lockRoom(caller, found.roomId, 'id')
  requireHostOrOwner(caller, room)
  const revoked = await sql`
    UPDATE rooms.room_links SET revoked_at = clock_timestamp()
    WHERE org_id = ${orgId} AND id = ${id} AND revoked_at IS NULL RETURNING 1`
  if (revoked.length === 0) return { ...noChange(room), linkId: id }

  await endLinkSessions({ orgId, linkId: id }, caller)
  const guests = await sql<{ userId: string }>`
    SELECT user_id AS "userId" FROM rooms.room_guests WHERE org_id = ${orgId} AND link_id = ${id} ORDER BY user_id`
  const told = fact(linkRevoked, { linkId: id }, { kind: 'RoomLink', id })
  const [first, ...rest] = await departureSteps(
    room,
    guests.map(({ userId }) => userId),
    'REVOKED',
  )
  if (!first) {
    await told(caller, room)
    return { ...noChange(room), linkId: id }
  }
  const leading: Step = { ...first, fact: first.fact ? bothFacts(told, first.fact) : told }
  return { ...(await change(caller, room, [leading, ...rest])), linkId: id }
}
