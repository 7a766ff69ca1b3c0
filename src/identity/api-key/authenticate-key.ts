import { requestError } from '../../graphql/request-errors.ts'
import { addressKey } from '../../platform/index.ts'
import type { Held } from '../session/recheck-sessions.ts'
import { identitySettings } from '../settings.ts'
import { noteKeyUse } from './key-use.ts'
import { holds, keyByPrefix } from './known-keys.ts'
import { callerOfKey } from './principal.ts'
import { partsOf, secretMatches } from './secret.ts'

/**
 * What a key opens, or null when it does not hold: unknown, wrong, revoked, expired, of a purged org, all alike (ID-51).
 * Failures count by address and by prefix; an address that failed too often is not looked up, while a right key is never
 * shut out by those who try its prefix elsewhere.
 */
export async function authenticateKey(key: string, address: string): Promise<Held | null> {
  const parts = partsOf(key)
  const { limiter } = identitySettings()
  const row = parts ? await keyByPrefix(parts.prefix, () => requireLeft(address)) : undefined
  const matches =
    parts !== null && secretMatches(parts.secret, row && { hash: row.secret_hash, pepperId: row.pepper_id })
  if (row && matches && holds(row)) {
    const caller = callerOfKey(row)
    noteKeyUse(caller)
    return { caller, endsAt: row.expires_at }
  }
  const counted = [await limiter.take('keyFailuresOfAddress', addressKey(address))]
  if (parts) counted.push(await limiter.take('keyFailuresOfPrefix', parts.prefix))
  const refused = counted.find(({ allowed }) => !allowed)
  if (refused) throw requestError('RATE_LIMITED', { retryAfterSeconds: refused.retryAfterSeconds })
  return null
}

async function requireLeft(address: string): Promise<void> {
  const { remaining, counted, resetAt } = await identitySettings().limiter.peek(
    'keyFailuresOfAddress',
    addressKey(address),
  )
  if (counted && remaining === 0) {
    throw requestError('RATE_LIMITED', { retryAfterSeconds: Math.max(1, (resetAt.getTime() - Date.now()) / 1000) })
  }
}
