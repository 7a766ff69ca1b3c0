import { sql } from '../../db/sql.ts'
import type { SignInFault } from '../session/events.ts'
import { lockAddressee, type MailedToken, spendToken } from './complete-sign-in.ts'
import { signInSettings } from './settings.ts'
import { codeMatches, codeOf } from './token.ts'

/** The miss that voids the token (ID-26). */
const MOST_MISSES = 5

/**
 * Spends the token if the code is its own, and counts a miss if it is not. The person stays locked from before the
 * comparison to the commit: however many guess at once, they are compared and counted one after the other.
 */
export async function tryCode(mailed: MailedToken, hash: Uint8Array, code: string): Promise<'right' | SignInFault> {
  if (!(await lockAddressee(mailed))) return 'not_active'
  if (!(await holds(mailed))) return 'no_code'
  const digits = codeOf(code)
  if (digits !== null && codeMatches(signInSettings().peppers, mailed.tokenId, digits, hash)) {
    return (await spendToken(mailed)) ? 'right' : 'no_code'
  }
  await sql`
    UPDATE identity.login_tokens SET code_attempts = code_attempts + 1,
      voided_at = CASE WHEN code_attempts + 1 >= ${MOST_MISSES} THEN now() END
    WHERE org_id = ${mailed.orgId} AND id = ${mailed.tokenId}`
  return 'wrong_code'
}

async function holds({ orgId, tokenId }: MailedToken): Promise<boolean> {
  const [token] = await sql`
    SELECT id FROM identity.login_tokens
    WHERE org_id = ${orgId} AND id = ${tokenId} AND used_at IS NULL AND voided_at IS NULL
      AND expires_at > clock_timestamp()
    FOR NO KEY UPDATE`
  return token !== undefined
}
