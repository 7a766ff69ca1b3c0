import { requestError } from '../../graphql/request-errors.ts'
import { addressKey, signInLimits, startAttempt } from '../../platform/index.ts'
import { identitySettings } from '../settings.ts'
import { SignInFailedError } from './errors.ts'

/**
 * Runs one try to sign in as that person from that address. It counts from its beginning, so that many at once cannot all
 * slip through, and is forgiven unless it fails as a sign-in does (PLAT-69, 70).
 */
export async function countedAttempt<T>(person: string, address: string, body: () => Promise<T>): Promise<T> {
  const attempt = await startAttempt(identitySettings().limiter, signInLimits(person, addressKey(address)))
  if (!attempt.allowed) throw requestError('RATE_LIMITED', { retryAfterSeconds: attempt.retryAfterSeconds })
  let failed = false
  try {
    return await body()
  } catch (error) {
    failed = error instanceof SignInFailedError
    throw error
  } finally {
    if (!failed) await attempt.forgive()
  }
}
