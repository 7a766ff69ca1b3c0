import { randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../lib/sha256.ts'

const TOKEN = /^mhs_[A-Za-z0-9_-]{43}$/

/** A session's token, shown once, and what is stored of it (ID-13). */
export function newSessionToken(): { token: string; hash: Buffer } {
  const token = `mhs_${randomSecret()}`
  return { token, hash: sha256(token) }
}

/** What to look a token up by; null when it cannot be one of ours. */
export const hashSessionToken = (token: string): Buffer | null => (TOKEN.test(token) ? sha256(token) : null)

/** The secret that a browser's scripts echo with each cookie-authenticated request, and what is stored of it (ID-14). */
export function newCsrfSecret(): { secret: string; hash: Buffer } {
  const secret = randomSecret()
  return { secret, hash: sha256(secret) }
}

/** Whether the echoed secret is the session's, in constant time. A session without one (a bearer's) matches nothing. */
export function csrfMatches(secret: string | null | undefined, hash: Uint8Array | null): boolean {
  if (secret == null || hash === null) return false
  const given = sha256(secret)
  return given.length === hash.length && timingSafeEqual(given, hash)
}

const randomSecret = () => randomBytes(32).toString('base64url')
