import { requestError } from '../../graphql/request-errors.ts'
import { addressKey, type RateLimiter } from '../../platform/index.ts'
import { identitySettings } from '../settings.ts'

/** Counts what somebody asks from an address, whatever comes of it, or throws RATE_LIMITED (PLAT-69, 70). */
export async function requireAddressLimit(kind: Parameters<RateLimiter['take']>[0], address: string): Promise<void> {
  const { allowed, retryAfterSeconds } = await identitySettings().limiter.take(kind, addressKey(address))
  if (!allowed) throw requestError('RATE_LIMITED', { retryAfterSeconds })
}
