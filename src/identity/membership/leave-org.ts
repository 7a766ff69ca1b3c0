import { operation } from '../../db/operation.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { signOut } from '../session/end-session.ts'
import { endMembership } from './end-membership.ts'
import { memberLeft } from './events.ts'
import { lockMember, requireAnotherOwner } from './lock-member.ts'

/** Ends the caller's own membership of the active org, and with it the session that they came with (ID-38, 39). */
export async function leaveOrg(caller: SessionCaller, _input: object, context: Context): Promise<{ orgId: string }> {
  const { orgId, userId } = caller
  await operation('write', scopeOf(caller, context.requestId), async () => {
    const { member } = await lockMember(caller, userId)
    if (member.revoked) return
    if (member.role === 'owner') await requireAnotherOwner(orgId, userId)
    await endMembership(caller, { ...member, userId }, memberLeft)
  })
  signOut(context, caller)
  return { orgId }
}
