import type { UserCaller } from '../../graphql/caller.ts'
import { depart } from './depart.ts'
import { memberLeft } from './events.ts'
import { lockOwners, requireAnotherOwner, requireMember } from './membership.ts'

/** Ends the caller's own membership; viewers may, the last owner may not (ROOM-17, 22). */
export async function leaveSpace(caller: UserCaller, { id }: { id: string }): Promise<{ spaceId: string }> {
  const { orgId, userId } = caller
  await requireMember(caller, id)
  requireAnotherOwner(await lockOwners(orgId, id), userId)
  const event = { type: memberLeft, payload: { userId } }
  await depart(caller, { orgId, spaceIds: [id], userId, reason: 'LEFT' }, event)
  return { spaceId: id }
}
