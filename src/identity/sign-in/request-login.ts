import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import type { ClientFacts, Context } from '../../graphql/context.ts'
import { addresseeOf, findAddressee } from '../session/preauth.ts'
import { requireAddressLimit } from '../session/require-address-limit.ts'
import { emailOf } from '../user/email.ts'
import { requireLinkSignIn } from './access.ts'
import { signInMail } from './mails.ts'
import { makeSignInToken, voidSignInTokens } from './make-token.ts'
import { afterTheAnswer, signInSettings } from './settings.ts'

/** Of one person, over all orgs. */
const TOKENS_AN_HOUR = 5

/**
 * Mails a link and a code to whoever may sign in with that email (ID-24). The answer is the same for everybody and waits
 * for nothing: whose email it is is looked up once it is given.
 */
export async function requestLogin(
  _caller: Caller | null,
  { email }: { email: string },
  { client }: Context,
): Promise<object> {
  requireLinkSignIn()
  await requireAddressLimit('loginRequest', client.address)
  afterTheAnswer(() => mailSignIn(emailOf(email), client))
  return {}
}

async function mailSignIn(email: string, client: ClientFacts): Promise<void> {
  const memberships = await findAddressee(email)
  const recent = memberships.find(({ live }) => live)
  if (!recent?.org_id || recent.status !== 'active' || recent.tokens_last_hour >= TOKENS_AN_HOUR) return
  const { org_id: orgId, org_name: orgName, user_id: userId } = recent

  // What was sent for another org goes too; row security gives each operation one org.
  for (const { org_id: other, open_token: open } of memberships) {
    if (open && other && other !== orgId) {
      await operation('write', { orgId: other, userId }, () => voidSignInTokens(other, userId))
    }
  }
  const made = await operation('write', { orgId, userId }, async () => {
    await sql`SELECT FROM identity.users WHERE id = ${userId} FOR NO KEY UPDATE` // of two requests at once the second counts both
    const [now] = await addresseeOf(email)
    if (now?.status !== 'active' || now.tokens_last_hour >= TOKENS_AN_HOUR) return null
    return makeSignInToken({ orgId, userId, client })
  })
  if (!made) return
  const { mailer, frontendUrl } = signInSettings()
  mailer.send({ to: email, ...signInMail({ orgName: orgName ?? '', ...made, frontendUrl }) })
}
