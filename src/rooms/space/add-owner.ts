import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { mayOwn } from './access.ts'
import { holdAdmin, lockSpace } from './custody.ts'
import { ownerAdded } from './events.ts'
import { holdStanding } from './hold-standing.ts'
import { findMembership } from './membership.ts'

/** An admin makes a member of the space an owner, without coming into it (ROOM-19, ID-62). */
export async function addOwner(
  caller: SessionCaller,
  { id, userId }: { id: string; userId: string },
): Promise<{ spaceId: string }> {
  const { orgId } = caller
  await holdAdmin(caller)
  await holdStanding(orgId, userId)
  // Before the space, as those lock who remove or demote; they are waited for.
  await sql`
    SELECT FROM rooms.space_members WHERE org_id = ${orgId} AND space_id = ${id} AND user_id = ${userId} FOR UPDATE`
  const { slug } = await lockSpace(orgId, id)
  const member = await findMembership(orgId, id, userId)
  if (!member) throw new NotFoundError('userId')
  if (member.role === 'owner') return { spaceId: id }
  if (!mayOwn(member)) throw new ForbiddenError('They cannot own a space.')

  await sql`
    UPDATE rooms.space_members SET role = 'owner' WHERE org_id = ${orgId} AND space_id = ${id} AND user_id = ${userId}`
  await record(caller, ownerAdded, {
    target: { kind: 'User', id: userId },
    spaceId: id,
    spaceSlug: slug,
    payload: { userId },
  })
  return { spaceId: id }
}
