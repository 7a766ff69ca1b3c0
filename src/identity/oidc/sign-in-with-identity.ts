import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import { memberJoined } from '../membership/events.ts'
import { takeIn } from '../membership/person.ts'
import { signInFailed } from '../session/events.ts'
import { holdMembership, lockPerson } from '../session/lock-person.ts'
import { newMemberSession, newSession } from '../session/new-session.ts'
import { endSurplusSessions, openSession, type SessionMaking } from '../session/open-session.ts'
import { findOrg, findPerson, findPersonByIdentity } from '../session/preauth.ts'
import { standingOfRole } from '../session/standing.ts'
import { useMembership } from '../session/use-membership.ts'
import { identitySettings } from '../settings.ts'
import { OidcFault } from './fault.ts'
import { type Identity, isTaken, type Profile } from './identity.ts'

type Making = SessionMaking & { requestId: string }

/**
 * Signs in whom the identity is linked to; makes somebody new where the operator lets them join (ID-28). `profile` is
 * asked of the provider only then, and never inside an operation.
 */
export async function signInWithIdentity(
  identity: Identity,
  profile: () => Promise<Profile>,
  making: Making,
): Promise<void> {
  if (await signInLinked(identity, making)) return
  if (await join(identity, profile, making)) return
  // Somebody has the email. Of two first sign-ins with one identity the loser finds what the winner made.
  if (!(await signInLinked(identity, making))) throw new OidcFault('LINK_FIRST')
}

/** False when the identity is linked to nobody. */
async function signInLinked(identity: Identity, { requestId, ...making }: Making): Promise<boolean> {
  const person = await findPersonByIdentity(identity.issuer, identity.subject)
  if (!person) return false
  const { user_id: userId, status, org_ids: orgIds } = person
  const [orgId] = orgIds // the one used last (ID-17)
  if (!orgId) throw new OidcFault('SIGN_IN_FAILED')
  if (status !== 'active') {
    await recordFault(orgId, userId, requestId)
    throw new OidcFault('SIGN_IN_FAILED')
  }
  await operation('write', { orgId, userId, requestId }, async () => {
    const holds =
      (await lockPerson(userId)) &&
      (await isLinked(userId, identity)) &&
      (await holdMembership({ orgId, userId })) !== null
    if (!holds) throw new OidcFault('SIGN_IN_FAILED') // disabled, unlinked or revoked meanwhile
    const member = await newMemberSession(orgId, userId)
    await endSurplusSessions(member)
    await openSession(member, { method: 'oidc', ...making })
  })
  return true
}

async function isLinked(userId: string, { issuer, subject }: Identity): Promise<boolean> {
  const rows = await sql`
    SELECT FROM identity.users WHERE id = ${userId} AND issuer = ${issuer} AND subject = ${subject}`
  return rows.length > 0
}

/** False when the email or the identity is somebody's already. */
async function join(
  { issuer, subject }: Identity,
  profile: () => Promise<Profile>,
  { requestId, ...making }: Making,
): Promise<boolean> {
  const autoJoin = identitySettings().oidc?.autoJoin
  if (!autoJoin) return false
  const { email, displayName } = await profile()
  if (await findPerson(email)) return false
  const org = await findOrg(autoJoin.orgSlug)
  if (org?.status !== 'active') throw new OidcFault('SIGN_IN_FAILED')

  const { org_id: orgId } = org
  const { role } = autoJoin
  const userId = newId()
  const caller = newSession({ orgId, userId, account: 'registered', standing: standingOfRole(role) })
  const joined = operation('write', { orgId, userId, requestId }, async () => {
    await takeIn(orgId, { userId, made: { email, displayName, passwordHash: null } }, role)
    await sql`
      UPDATE identity.users SET issuer = ${issuer}, subject = ${subject}, email_verified_at = now(), last_login_at = now()
      WHERE id = ${userId}`
    await record(caller, memberJoined, { target: { kind: 'User', id: userId }, payload: { role } })
    await useMembership(orgId, userId)
    await openSession(caller, { method: 'oidc', ...making })
    return true
  })
  return joined.catch((error: unknown) => {
    if (isTaken(error)) return false
    throw error
  })
}

/** Nobody new has proven anything to us, so the server records it (ID-23). */
function recordFault(orgId: string, userId: string, requestId: string): Promise<string> {
  return operation('write', { orgId, requestId }, () =>
    record({ kind: 'system', orgId }, signInFailed, {
      target: { kind: 'User', id: userId },
      payload: { method: 'oidc', reason: 'not_active' },
    }),
  )
}
