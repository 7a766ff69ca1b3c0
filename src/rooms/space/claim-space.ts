import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { holdAdmin, lockSpace } from './custody.ts'
import { spaceClaimed } from './events.ts'

/**
 * Makes an admin the owner of a space that nobody who counts owns, the one way into a space that one is not in (ROOM-19,
 * ID-61). Of two at once the second waits for the space, and finds the first as its owner.
 */
export async function claimSpace(caller: SessionCaller, { id }: { id: string }): Promise<{ spaceId: string }> {
  const { orgId, userId } = caller
  await holdAdmin(caller)
  const { slug } = await lockSpace(orgId, id)
  const owners = await sql`
    SELECT FROM rooms.members WHERE org_id = ${orgId} AND space_id = ${id} AND role = 'owner' LIMIT 1`
  if (owners.length > 0) throw new ForbiddenError('The space has an owner.')

  await sql`
    INSERT INTO rooms.space_members (org_id, space_id, user_id, role) VALUES (${orgId}, ${id}, ${userId}, 'owner')
    ON CONFLICT (org_id, space_id, user_id) DO UPDATE SET role = 'owner'`
  await record(caller, spaceClaimed, {
    target: { kind: 'Space', id },
    spaceId: id,
    spaceSlug: slug,
    payload: { userId },
  })
  return { spaceId: id }
}
