import { requestError } from '../../graphql/request-errors.ts'
import { addressKey, signInLimits, startAttempt } from '../../platform/index.ts'
import { identitySettings } from '../settings.ts'
import { SignInFailedError } from './errors.ts'

/**
 * Runs one try to sign in from that address, as that person or with a secret that nobody guesses (null). It counts from
 * its beginning, so that many at once cannot all slip through, and is forgiven unless it fails as a sign-in does
 * (PLAT-69, 70).
 */
export async function countedAttempt<T>(
  person: string | null,
  address: string,
  body: () => Promise<T>,
  isFailure = (error: unknown): boolean => error instanceof SignInFailedError,
): Promise<T> {
  const from = addressKey(address)
  const limits = person === null ? { signInAddress: from } : signInLimits(person, from)
  const attempt = await startAttempt(identitySettings().limiter, limits)
  if (!attempt.allowed) throw requestError('RATE_LIMITED', { retryAfterSeconds: attempt.retryAfterSeconds })
  let failed = false
  try {
    return await body()
  } catch (error) {
    failed = isFailure(error)
    throw error
  } finally {
    if (!failed) await attempt.forgive()
  }
}
