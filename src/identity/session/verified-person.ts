import { setTimeout as pause } from 'node:timers/promises'
import { SignInFailedError } from './errors.ts'
import { verifyPassword } from './password.ts'
import { findPassword, type PasswordRow } from './preauth.ts'
import { recordFaultApart } from './record-fault.ts'
import { unlessBusy } from './when-busy.ts'

/** A person who may sign in, and the hash that their password was compared with. */
export type Verified = { userId: string; passwordHash: string; orgIds: readonly string[] }

/** From the computation to a refusal: a known person's is recorded meanwhile, which is not to be seen. */
const REFUSAL_AFTER = 50

/**
 * Whom email and password name. Unknown email, no password, wrong password, not active: one computation, one answer and
 * one time for all (ID-23). What happened to a known person is recorded in the org they used last.
 */
export async function verifiedPerson(email: string, password: string): Promise<Verified> {
  const person = await findPassword(email)
  const right = await unlessBusy(verifyPassword(password, person?.password_hash ?? null))
  if (person && right && person.password_hash !== null && person.status === 'active') {
    return { userId: person.user_id, passwordHash: person.password_hash, orgIds: person.org_ids }
  }
  await Promise.all([pause(REFUSAL_AFTER), person && recordRefusal(person, right)])
  throw new SignInFailedError()
}

async function recordRefusal(
  { user_id: userId, password_hash: passwordHash, org_ids: [orgId] }: PasswordRow,
  right: boolean,
): Promise<void> {
  const reason = passwordHash === null ? 'no_password' : right ? 'not_active' : 'wrong_password'
  if (orgId) await recordFaultApart({ orgId, userId, method: 'password', reason })
}
