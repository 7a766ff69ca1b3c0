import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { depart } from './depart.ts'
import { memberRemoved } from './events.ts'
import { findMembership, lockOwners, requireAnotherOwner, requireOwner, requireStillOwner } from './membership.ts'

/** An owner removes somebody from the space, but never its last owner (ROOM-16, 17). */
export async function removeMember(
  caller: UserCaller,
  { id, userId }: { id: string; userId: string },
): Promise<{ spaceId: string; userId: string }> {
  const { orgId } = caller
  await requireOwner(caller, id)
  const owners = await lockOwners(orgId, id)
  requireAnotherOwner(owners, userId)
  requireStillOwner(caller, owners)
  if (!(await findMembership(orgId, id, userId))) throw new NotFoundError('userId')

  const event = { type: memberRemoved, payload: { userId, reason: 'owner' as const } }
  await depart(caller, { orgId, spaceIds: [id], userId, reason: 'REMOVED' }, event)
  return { spaceId: id, userId }
}
