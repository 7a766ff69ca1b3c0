import { operation } from '../../db/operation.ts'
import type { Caller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { signOut } from '../session/end-session.ts'
import { asLocked, requireMayChange } from './access.ts'
import { endMembership } from './end-membership.ts'
import { memberRevoked } from './events.ts'
import { lockMember, requireAnotherOwner } from './lock-member.ts'

/** Ends a membership, or an invitation (ID-38, 39). Again, it does nothing. */
export async function revokeMembership(caller: Caller, { userId }: { userId: string }): Promise<{ userId: string }> {
  const { member, own } = await lockMember(caller, userId)
  requireMayChange(caller, member.role)
  if (member.revoked) return { userId }
  if (member.role === 'owner' && member.joined) await requireAnotherOwner(caller.orgId, userId)
  requireMayChange(asLocked(caller, own), member.role)
  await endMembership(caller, { ...member, userId }, memberRevoked)
  return { userId }
}

/** The same as a mutation: whoever ends their own is nobody from then on. */
export async function revokeMember(
  caller: Caller,
  input: { userId: string },
  context: Context,
): Promise<{ userId: string }> {
  await operation('write', scopeOf(caller, context.requestId), () => revokeMembership(caller, input))
  if (caller.kind === 'session' && caller.userId === input.userId) signOut(context, caller)
  return input
}
