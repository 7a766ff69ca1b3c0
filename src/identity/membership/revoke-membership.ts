import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import { membershipWasRevoked } from '../hooks.ts'
import { revokeSessionsIn } from '../session/revoke-sessions.ts'
import { requireMayChange } from './access.ts'
import { memberRevoked } from './events.ts'
import { lockMember, requireAnotherOwner } from './lock-member.ts'

/**
 * Ends a membership: the person's sessions that are active in the org end with it, and bodies above take back what hung on
 * it (ID-38, 39). Again, it does nothing.
 */
export async function revokeMembership(caller: Caller, { userId }: { userId: string }): Promise<{ userId: string }> {
  const { orgId } = caller
  const { role, joined, revoked } = await lockMember(orgId, userId)
  requireMayChange(caller, role)
  if (revoked) return { userId }
  if (role === 'owner' && joined) await requireAnotherOwner(orgId, userId)

  await sql`
    UPDATE identity.memberships SET revoked_at = now(), revoked_by = ${caller.userId}
    WHERE org_id = ${orgId} AND user_id = ${userId}`
  await revokeSessionsIn(caller, userId)
  await record(caller, memberRevoked, { target: { kind: 'User', id: userId }, payload: { role } })
  if (joined) await membershipWasRevoked({ orgId, userId, by: caller })
  return { userId }
}
