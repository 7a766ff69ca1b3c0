import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { invalidInput, NotFoundError } from '../../graphql/errors.ts'
import { displayNameFault } from '../../lib/text.ts'
import { newId } from '../../lib/type-id.ts'
import { type Delivery, deliver, newCredentials, type SignedIn } from './delivery.ts'
import { newSession } from './new-session.ts'
import { openSession } from './open-session.ts'
import { findOrg } from './preauth.ts'
import { requireAddressLimit } from './require-address-limit.ts'

type AnonymousSignIn = { orgSlug: string; displayName: string; delivery?: Delivery | undefined }

/**
 * Makes an anonymous person of the org and signs them in (ID-21). An org that lets none in answers like an unknown slug.
 */
export async function createAnonymousSession(
  _caller: Caller | null,
  { orgSlug, displayName, delivery = 'COOKIE' }: AnonymousSignIn,
  context: Context,
): Promise<SignedIn> {
  const credentials = newCredentials(delivery, context)
  const fault = displayNameFault(displayName)
  if (fault) throw invalidInput('displayName', fault)
  await requireAddressLimit('anonymousSession', context.client.address) // known org or not

  const org = await findOrg(orgSlug)
  if (!org?.allow_anonymous || org.status !== 'active') throw new NotFoundError('orgSlug')
  const caller = newSession({ orgId: org.org_id, userId: newId(), account: 'anonymous', standing: 'PARTICIPANT' })
  await operation('write', scopeOf(caller), async () => {
    const [open] = await sql`
      SELECT FROM identity.orgs WHERE id = ${caller.orgId} AND status = 'active' AND allow_anonymous FOR SHARE`
    if (!open) throw new NotFoundError('orgSlug') // closed meanwhile
    await sql`
      INSERT INTO identity.users (id, type, account, home_org_id, display_name, status, last_login_at)
      VALUES (${caller.userId}, 'human', 'anonymous', ${caller.orgId}, ${displayName}, 'active', now())`
    await openSession(caller, { method: 'anonymous', credentials, client: context.client })
  })
  return deliver(context, caller, credentials)
}
