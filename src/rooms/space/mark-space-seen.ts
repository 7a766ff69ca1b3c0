import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { requireMember } from './membership.ts'

/** Moves a space to the front of the caller's own list; liveness, no fact (ROOM-15). */
export async function markSpaceSeen(caller: UserCaller, { id }: { id: string }): Promise<{ spaceId: string }> {
  await requireMember(caller, id)
  await sql`
    UPDATE rooms.space_members SET last_seen_at = clock_timestamp()
    WHERE org_id = ${caller.orgId} AND space_id = ${id} AND user_id = ${caller.userId}`
  return { spaceId: id }
}
