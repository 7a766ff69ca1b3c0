import { operation } from '../../db/operation.ts'
import type { Caller, SessionCaller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { countedAttempt } from '../session/counted-attempt.ts'
import { type Credentials, type Delivery, deliver, newCredentials, type SignedIn } from '../session/delivery.ts'
import { SignInFailedError } from '../session/errors.ts'
import type { SignInFault } from '../session/events.ts'
import { findLoginToken, type LoginTokenRow } from '../session/preauth.ts'
import { recordFaultApart } from '../session/record-fault.ts'
import { requireLinkSignIn } from './access.ts'
import { completeSignIn, lockAddressee, type MailedToken, spendToken } from './complete-sign-in.ts'
import { hashLoginToken } from './token.ts'

type TokenSignIn = { token: string; delivery?: Delivery | undefined }

/** Spends a mailed link, to sign in or to accept an invitation (ID-25, 36). Whatever does not fit has one answer. */
export async function createSessionWithToken(
  _caller: Caller | null,
  { token, delivery = 'COOKIE' }: TokenSignIn,
  context: Context,
): Promise<SignedIn> {
  const credentials = newCredentials(delivery, context)
  // No limit by person: 32 random bytes are not guessed, and whoever has the link is who it was for.
  const caller = await countedAttempt(null, context.client.address, async () => {
    const hash = hashLoginToken(token)
    const row = hash && (await findLoginToken(hash))
    if (!row) throw new SignInFailedError()
    if (row.purpose === 'sign_in') requireLinkSignIn()
    const outcome = row.holds ? await signIn(row, credentials, context) : 'token_spent'
    if (typeof outcome !== 'string') return outcome

    const { org_id: orgId, user_id: userId } = row
    if (isOpen(row)) await recordFaultApart({ orgId, userId, method: methodOf(row), reason: outcome })
    throw new SignInFailedError()
  })
  return deliver(context, caller, credentials)
}

type Outcome = SessionCaller | SignInFault

async function signIn(row: LoginTokenRow, credentials: Credentials, { client }: Context): Promise<Outcome> {
  if (!isOpen(row)) return 'not_active'
  const { token_id: tokenId, org_id: orgId, user_id: userId, purpose } = row
  const mailed: MailedToken = { tokenId, orgId, userId, purpose }
  return operation('write', { orgId, userId }, async () => {
    if (!(await lockAddressee(mailed))) return 'not_active'
    if (!(await spendToken(mailed))) return 'token_spent'
    return completeSignIn(mailed, { method: methodOf(row), credentials, client })
  })
}

/** A purged org is not signed in to, and keeps no record of who tried. */
const isOpen = ({ org_status: status }: LoginTokenRow) => status === 'active' || status === 'archived'

const methodOf = ({ purpose }: LoginTokenRow) => (purpose === 'invite' ? 'invite' : 'magic_link')
