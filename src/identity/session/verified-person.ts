import { SignInFailedError } from './errors.ts'
import { verifyPassword } from './password.ts'
import { findPassword } from './preauth.ts'
import { recordFaultApart } from './record-fault.ts'
import { unlessBusy } from './when-busy.ts'

/** A person who may sign in, and the hash that their password was compared with. */
export type Verified = { userId: string; passwordHash: string; orgIds: readonly string[] }

/**
 * Whom email and password name. Unknown email, no password, wrong password, not active: one computation and one answer
 * for all (ID-23). What happened to a known person is recorded in the org they used last.
 */
export async function verifiedPerson(email: string, password: string): Promise<Verified> {
  const person = await findPassword(email)
  const right = await unlessBusy(verifyPassword(password, person?.password_hash ?? null))
  if (!person) throw new SignInFailedError()
  const { user_id: userId, password_hash: passwordHash, org_ids: orgIds } = person
  if (right && passwordHash !== null && person.status === 'active') return { userId, passwordHash, orgIds }

  const reason = passwordHash === null ? 'no_password' : right ? 'not_active' : 'wrong_password'
  const [orgId] = orgIds
  if (orgId) await recordFaultApart({ orgId, userId, method: 'password', reason })
  throw new SignInFailedError()
}
