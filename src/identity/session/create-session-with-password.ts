import { operation } from '../../db/operation.ts'
import type { Caller, SessionCaller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { identitySettings } from '../settings.ts'
import { emailOf } from '../user/email.ts'
import { countedAttempt } from './counted-attempt.ts'
import { type Credentials, type Delivery, deliver, newCredentials, type SignedIn } from './delivery.ts'
import { SIGN_IN_FAILED, SignInFailedError } from './errors.ts'
import { holdMembership } from './lock-person.ts'
import { newMemberSession } from './new-session.ts'
import { endSurplusSessions, openSession } from './open-session.ts'
import { hashPassword, needsRehash, PasswordBusyError } from './password.ts'
import { confirmPassword, findOrg } from './preauth.ts'
import { type Verified, verifiedPerson } from './verified-person.ts'

type PasswordSignIn = { email: string; password: string; orgSlug?: string | undefined; delivery?: Delivery | undefined }

/**
 * Signs a registered person in (ID-22, 23). Whatever does not fit has one answer and costs one computation, which takes
 * place between two operations and holds no connection.
 */
export async function createSessionWithPassword(
  _caller: Caller | null,
  { email, password, orgSlug, delivery = 'COOKIE' }: PasswordSignIn,
  context: Context,
): Promise<SignedIn> {
  if (!identitySettings().passwordSignIn) throw new ForbiddenError('Signing in by password is switched off.')
  const credentials = newCredentials(delivery, context)
  const caller = await countedAttempt(emailOf(email), context.client.address, async () => {
    const person = await verifiedPerson(emailOf(email), password)
    const orgId = await chooseOrg(person, orgSlug)
    const rewritten = await rewrite(person.passwordHash, password)
    return signIn(person, { orgId, rewritten, credentials, context })
  })
  return deliver(context, caller, credentials)
}

/** The org asked for, else the one used last (ID-17). */
async function chooseOrg({ orgIds }: Verified, slug: string | undefined): Promise<string> {
  const [recent] = orgIds
  if (!recent) throw requestError('UNAUTHENTICATED', { message: SIGN_IN_FAILED })
  if (slug === undefined) return recent
  const org = await findOrg(slug)
  if (!org || !orgIds.includes(org.org_id)) throw new NotFoundError('orgSlug')
  return org.org_id
}

/** A new hash in place of one with old parameters; when too many are being computed, the next success rewrites it. */
async function rewrite(hash: string, password: string): Promise<string | null> {
  if (!needsRehash(hash)) return null
  return hashPassword(password).catch((error: unknown) => {
    if (error instanceof PasswordBusyError) return null
    throw error
  })
}

type SignIn = { orgId: string; rewritten: string | null; credentials: Credentials; context: Context }

function signIn(
  { userId, passwordHash }: Verified,
  { orgId, rewritten, credentials, context }: SignIn,
): Promise<SessionCaller> {
  return operation('write', { orgId, userId }, async () => {
    if (!(await confirmPassword(passwordHash, rewritten))) throw new SignInFailedError() // changed while we computed
    // Whoever revokes the membership waits and finds the session, or has come first.
    const holds = (await holdMembership({ orgId, userId })) !== null
    if (!holds) throw requestError('UNAUTHENTICATED', { message: SIGN_IN_FAILED })
    const caller = await newMemberSession(orgId, userId)
    await endSurplusSessions(caller)
    await openSession(caller, { method: 'password', credentials, client: context.client })
    return caller
  })
}
