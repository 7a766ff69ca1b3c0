import { setTimeout as pause } from 'node:timers/promises'
import { operation } from '../../db/operation.ts'
import type { Caller, SessionCaller } from '../../graphql/caller.ts'
import type { ClientFacts, Context } from '../../graphql/context.ts'
import { countedAttempt } from '../session/counted-attempt.ts'
import { type Credentials, type Delivery, deliver, newCredentials, type SignedIn } from '../session/delivery.ts'
import { SignInFailedError } from '../session/errors.ts'
import type { SignInFault } from '../session/events.ts'
import { findAddressee, findCodeToken } from '../session/preauth.ts'
import { recordFault, recordFaultApart } from '../session/record-fault.ts'
import { emailOf } from '../user/email.ts'
import { requireLinkSignIn } from './access.ts'
import { completeSignIn, type MailedToken } from './complete-sign-in.ts'
import { tryCode } from './try-code.ts'

type CodeSignIn = { email: string; code: string; delivery?: Delivery | undefined }

/** No refusal comes sooner: a known person's takes longer to make, which is not to be seen. */
const REFUSAL_AFTER = 250

/** Signs in with the mailed code (ID-26). Whatever does not fit has one answer, at one time. */
export async function createSessionWithCode(
  _caller: Caller | null,
  { email, code, delivery = 'COOKIE' }: CodeSignIn,
  context: Context,
): Promise<SignedIn> {
  requireLinkSignIn()
  const credentials = newCredentials(delivery, context)
  const person = emailOf(email)
  const caller = await countedAttempt(person, context.client.address, async () => {
    const earliest = pause(REFUSAL_AFTER)
    const signedIn = await signIn(person, code, { credentials, client: context.client })
    if (signedIn) return signedIn
    await earliest
    throw new SignInFailedError()
  })
  return deliver(context, caller, credentials)
}

type With = { credentials: Credentials; client: ClientFacts }

/** Null when it does not fit; what happened to a known person is on record then (ID-23). */
async function signIn(email: string, code: string, opening: With): Promise<SessionCaller | null> {
  const memberships = await findAddressee(email)
  const recent = memberships.find(({ live }) => live)
  if (!recent?.org_id) return null
  const { org_id: recentOrgId, user_id: userId, status } = recent

  const token = status === 'active' ? await findCodeToken(userId) : undefined
  const isOpen = memberships.some(({ live, org_id: orgId }) => live && orgId === token?.org_id)
  if (!token || !isOpen) {
    const reason: SignInFault = status === 'active' ? 'no_code' : 'not_active'
    await recordFaultApart({ orgId: recentOrgId, userId, method: 'code', reason })
    return null
  }

  const { token_id: tokenId, org_id: orgId } = token
  const mailed: MailedToken = { tokenId, orgId, userId, purpose: 'sign_in' }
  return operation('write', { orgId, userId }, async () => {
    const outcome = await tryCode(mailed, token.code_hash, code)
    if (outcome === 'right') return completeSignIn(mailed, { ...opening, method: 'code' })
    await recordFault({ orgId, userId, method: 'code', reason: outcome })
    return null // and not an error, which would undo the count
  })
}
