import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import type { ClientFacts } from '../../graphql/context.ts'
import { record } from '../../platform/index.ts'
import { memberJoined } from '../membership/events.ts'
import type { Role } from '../membership/role.ts'
import type { Credentials } from '../session/delivery.ts'
import { newSession } from '../session/new-session.ts'
import { endSurplusSessions, openSession } from '../session/open-session.ts'
import { standingOfRole } from '../session/standing.ts'
import { useMembership } from '../session/use-membership.ts'

export type MailedToken = { tokenId: string; orgId: string; userId: string; purpose: 'sign_in' | 'invite' }

/**
 * Whether the person may sign in with such a token, as it is now: active with a live membership, or invited. Both rows
 * stay locked to the commit, the person's first and the token's after them, which is the order of all who take several.
 */
export async function lockAddressee({ orgId, userId, purpose }: MailedToken): Promise<boolean> {
  const invited = purpose === 'invite'
  const [person] = await sql`
    SELECT id FROM identity.users
    WHERE id = ${userId} AND (status = 'active' OR (status = 'invited' AND ${invited})) FOR NO KEY UPDATE`
  if (!person) return false
  const [member] = await sql`
    SELECT user_id FROM identity.memberships
    WHERE org_id = ${orgId} AND user_id = ${userId} AND revoked_at IS NULL AND (joined_at IS NULL) = ${invited}
    FOR NO KEY UPDATE`
  return member !== undefined
}

/** Spends the token, if nobody has and nothing has ended it; of two at once the second comes too late (ID-25). */
export async function spendToken({ orgId, tokenId }: MailedToken): Promise<boolean> {
  const [spent] = await sql`
    UPDATE identity.login_tokens SET used_at = now()
    WHERE org_id = ${orgId} AND id = ${tokenId} AND used_at IS NULL AND voided_at IS NULL
      AND expires_at > clock_timestamp()
    RETURNING id`
  return spent !== undefined
}

type Opening = {
  method: 'magic_link' | 'code' | 'invite'
  credentials: Credentials
  client: ClientFacts
}

/**
 * Opens the session of the locked person whose token was spent. Whoever has read the mail owns the address; who was
 * invited is a member from here on (ID-36).
 */
export async function completeSignIn(
  { orgId, userId, purpose }: MailedToken,
  { method, credentials, client }: Opening,
): Promise<SessionCaller> {
  await sql`
    UPDATE identity.users SET status = 'active', last_login_at = now(),
      email_verified_at = coalesce(email_verified_at, now())
    WHERE id = ${userId}`
  if (purpose === 'invite') {
    await sql`UPDATE identity.memberships SET joined_at = now() WHERE org_id = ${orgId} AND user_id = ${userId}`
  }
  const role = await useMembership(orgId, userId)
  const caller = newSession({ orgId, userId, account: 'registered', standing: standingOfRole(role) })
  if (purpose === 'invite') {
    await record(caller, memberJoined, { target: { kind: 'User', id: userId }, payload: { role: role as Role } })
  }
  await endSurplusSessions(caller)
  await openSession(caller, { method, credentials, client })
  return caller
}
