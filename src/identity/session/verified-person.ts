import { operation } from '../../db/operation.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { record } from '../../platform/index.ts'
import { SignInFailedError } from './errors.ts'
import { type SignInFault, signInFailed } from './events.ts'
import { PasswordBusyError, verifyPassword } from './password.ts'
import { findPassword, type PasswordRow } from './preauth.ts'

/** A person who may sign in, and the hash that their password was compared with. */
export type Verified = { userId: string; passwordHash: string; orgIds: readonly string[] }

/**
 * Whom email and password name. Unknown email, no password, wrong password, not active: one computation and one answer
 * for all (ID-23). What happened to a known person is recorded in the org they used last.
 */
export async function verifiedPerson(email: string, password: string): Promise<Verified> {
  const person = await findPassword(email)
  const right = await verify(password, person?.password_hash ?? null)
  if (!person) throw new SignInFailedError()
  const { user_id: userId, password_hash: passwordHash, org_ids: orgIds } = person
  if (right && passwordHash !== null && person.status === 'active') return { userId, passwordHash, orgIds }

  await recordFault(person, passwordHash === null ? 'no_password' : right ? 'not_active' : 'wrong_password')
  throw new SignInFailedError()
}

async function verify(password: string, hash: string | null): Promise<boolean> {
  try {
    return await verifyPassword(password, hash)
  } catch (error) {
    throw error instanceof PasswordBusyError ? requestError('RATE_LIMITED', { retryAfterSeconds: 1 }) : error
  }
}

/** Nobody has proven to be the person, so the server records it. */
async function recordFault({ user_id: userId, org_ids: [orgId] }: PasswordRow, reason: SignInFault): Promise<void> {
  if (!orgId) return
  await operation('write', { orgId }, () =>
    record({ kind: 'system', orgId }, signInFailed, {
      target: { kind: 'User', id: userId },
      payload: { method: 'password', reason },
    }),
  )
}
