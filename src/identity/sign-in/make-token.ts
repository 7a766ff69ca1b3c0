import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { ClientFacts } from '../../graphql/context.ts'
import { newId } from '../../lib/type-id.ts'
import { ipOf } from '../session/open-session.ts'
import { signInUrl } from './mails.ts'
import { signInSettings } from './settings.ts'
import { hashCode, newCode, newLoginToken } from './token.ts'

type For = { orgId: string; userId: string; client: ClientFacts | null }

/**
 * One token with two ways to spend it, a link and a code, good for 15 minutes (ID-24, 26). In a write operation of that
 * person in that org; what they were sent before for it opens nothing any more.
 */
export async function makeSignInToken({ orgId, userId, client }: For): Promise<{ token: string; code: string }> {
  const [pepper] = signInSettings().peppers
  if (!pepper) throw new Error('there is no pepper to keep a code with')
  const id = newId()
  const { token, hash } = newLoginToken()
  const code = newCode()
  await voidSignInTokens(orgId, userId)
  await sql`
    INSERT INTO identity.login_tokens (org_id, id, user_id, purpose, token_hash, code_hash, expires_at, ip, user_agent)
    VALUES (${orgId}, ${id}, ${userId}, 'sign_in', ${hash}, ${hashCode(pepper, id, code)}, now() + interval '15 minutes',
      ${client && ipOf(client.address)}, ${client?.userAgent || null})`
  return { token, code }
}

export async function voidSignInTokens(orgId: string, userId: string): Promise<void> {
  await sql`
    UPDATE identity.login_tokens SET voided_at = now()
    WHERE org_id = ${orgId} AND user_id = ${userId} AND purpose = 'sign_in' AND used_at IS NULL AND voided_at IS NULL`
}

type Link = { orgId: string; userId: string; address: string }

/** A link to that address which signs a member in once, for the operator; null where links sign nobody in. */
export async function signInLink({ orgId, userId, address }: Link): Promise<string | null> {
  const { linkSignIn } = signInSettings()
  if (!linkSignIn) return null
  const { token } = await operation('write', { orgId, userId }, () => makeSignInToken({ orgId, userId, client: null }))
  return signInUrl(address, token)
}
