import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'

// Who departs from a space first removes the membership and then asks for its rooms; who makes a room, attaches or takes
// the lead holds the membership before the room, so that neither misses the other (ROOM-23) and both lock in one order.

/** Who departs meanwhile waits, and finds the room that they lead; or is gone already. */
export async function holdMembership({ orgId, userId }: UserCaller, spaceId: string): Promise<void> {
  await sql`
    SELECT FROM rooms.space_members
    WHERE org_id = ${orgId} AND space_id = ${spaceId} AND user_id = ${userId} FOR KEY SHARE`
}

/** The same by a room of the space; of somebody else, where the lead goes to them. */
export async function holdMembershipOfRoom(
  { orgId, userId: callerId, standing }: UserCaller,
  roomId: string,
  userId = callerId,
): Promise<void> {
  if (standing !== 'GUEST') await holdMembershipsOfRoom(orgId, roomId, [userId])
}

/** The same of several people, before something that is between them. */
export async function holdMembershipsOfRoom(orgId: string, roomId: string, userIds: readonly string[]): Promise<void> {
  await sql`
    SELECT FROM rooms.space_members AS m JOIN rooms.rooms AS r ON r.org_id = m.org_id AND r.space_id = m.space_id
    WHERE r.org_id = ${orgId} AND r.id = ${roomId} AND m.user_id = ANY (${userIds}::uuid[])
    ORDER BY m.user_id FOR KEY SHARE OF m`
}
