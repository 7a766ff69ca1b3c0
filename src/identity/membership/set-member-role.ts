import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { memberRoleWasChanged } from '../hooks.ts'
import { requireMayChange } from './access.ts'
import { memberRoleChanged } from './events.ts'
import { lockMember, requireAnotherOwner } from './lock-member.ts'
import type { Role } from './role.ts'

/** Gives a member, or somebody who is invited, another role (ID-37, 39). */
export async function setMemberRole(
  caller: Caller,
  { userId, role: to }: { userId: string; role: Role },
): Promise<{ userId: string }> {
  const { orgId } = caller
  const { role: from, joined, revoked } = await lockMember(orgId, userId)
  if (revoked) throw new NotFoundError('userId')
  requireMayChange(caller, from, to)
  if (from === to) return { userId }
  if (from === 'owner' && joined) await requireAnotherOwner(orgId, userId)

  await sql`UPDATE identity.memberships SET role = ${to} WHERE org_id = ${orgId} AND user_id = ${userId}`
  await record(caller, memberRoleChanged, { target: { kind: 'User', id: userId }, payload: { from, to } })
  if (joined) await memberRoleWasChanged({ orgId, userId, from, to, by: caller })
  return { userId }
}
