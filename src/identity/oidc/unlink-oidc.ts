import { sql, sqlOne } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { ConflictError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { hasPassword } from '../session/preauth.ts'
import { oidcUnlinked } from './events.ts'

/** Takes the provider's identity off the caller, unless nothing else could sign them in (ID-29). Again, it does nothing. */
export async function unlinkOidc(caller: SessionCaller): Promise<object> {
  const { linked, email_verified: emailVerified } = await sqlOne<{ linked: boolean; email_verified: boolean }>`
    SELECT issuer <> '' AS linked, email IS NOT NULL AND email_verified_at IS NOT NULL AS email_verified
    FROM identity.users WHERE id = ${caller.userId} FOR NO KEY UPDATE`
  if (!linked) return {}
  if (!emailVerified && !(await hasPassword())) {
    throw new ConflictError('Nothing to sign in with would remain: set a password first.')
  }
  await sql`UPDATE identity.users SET issuer = '', subject = '' WHERE id = ${caller.userId}`
  await record(caller, oidcUnlinked, { target: { kind: 'User', id: caller.userId }, payload: {} })
  return {}
}
