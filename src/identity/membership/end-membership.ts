import { sql } from '../../db/sql.ts'
import { type Actor, type EventType, record } from '../../platform/index.ts'
import { membershipWasRevoked } from '../hooks.ts'
import { revokeSessionsIn } from '../session/revoke-sessions.ts'
import { voidInvites } from '../sign-in/invite.ts'
import type { LockedMember } from './lock-member.ts'
import type { Role } from './role.ts'

/**
 * Ends a locked membership with what hung on it: open invitations, the person's sessions that are active in the org, and
 * by their hooks what bodies above gave (ID-38).
 */
export async function endMembership(
  actor: Actor,
  { role, joined, userId }: LockedMember & { userId: string },
  event: EventType<{ role: Role }>,
): Promise<void> {
  const { orgId } = actor
  const by = actor.kind === 'system' ? null : actor.userId
  await sql`
    UPDATE identity.memberships SET revoked_at = now(), revoked_by = ${by}
    WHERE org_id = ${orgId} AND user_id = ${userId}`
  await voidInvites(orgId, userId)
  await revokeSessionsIn(actor, userId)
  await record(actor, event, { target: { kind: 'User', id: userId }, payload: { role } })
  if (joined) await membershipWasRevoked({ orgId, userId, by: actor })
}
