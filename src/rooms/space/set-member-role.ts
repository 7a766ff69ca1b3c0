import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { mayOwn } from './access.ts'
import { memberRoleSet } from './events.ts'
import {
  findMembership,
  lockOwners,
  requireAnotherOwner,
  requireOwner,
  requireStillOwner,
  type SpaceRole,
} from './membership.ts'

type SetRole = { id: string; userId: string; role: SpaceRole }

/** Makes a member an owner, or an owner a member; the last owner stays one (ROOM-16, 17). */
export async function setMemberRole(
  caller: UserCaller,
  { id, userId, role }: SetRole,
): Promise<{ spaceId: string; userId: string }> {
  const { orgId } = caller
  await requireOwner(caller, id)
  const owners = await lockOwners(orgId, id)
  if (role === 'member') requireAnotherOwner(owners, userId)
  requireStillOwner(caller, owners)

  const member = await findMembership(orgId, id, userId)
  if (!member) throw new NotFoundError('userId')
  if (member.role === role) return { spaceId: id, userId }
  if (role === 'owner' && !mayOwn(member)) throw new ForbiddenError('They cannot own a space.')
  await sql`
    UPDATE rooms.space_members SET role = ${role}
    WHERE org_id = ${orgId} AND space_id = ${id} AND user_id = ${userId}`
  await record(caller, memberRoleSet, {
    target: { kind: 'User', id: userId },
    spaceId: id,
    spaceSlug: member.slug,
    payload: { userId, role },
  })
  return { spaceId: id, userId }
}
