import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../lib/sha256.ts'
import { isUuid } from '../../lib/uuid.ts'

/** `mh_` and digits or capitals behind it: the redactor knows it as one of ours wherever it turns up (PLAT-23). */
const TOKEN = /^mh_link_[A-Za-z0-9_-]{43}$/
const CODE = /^\d{6}$/

/** What a mailed link carries, and what is stored of it (ID-24). */
export function newLoginToken(): { token: string; hash: Buffer } {
  const token = `mh_link_${randomBytes(32).toString('base64url')}`
  return { token, hash: sha256(token) }
}

/** What to look a token up by; null when it cannot be one of ours. */
export const hashLoginToken = (token: string): Buffer | null => (TOKEN.test(token) ? sha256(token) : null)

export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

/** The code as it was mailed, however it was typed in: `123 456` and `123-456` too. Null when it cannot be one. */
export function codeOf(text: string): string | null {
  const digits = text.replace(/[\s-]/g, '')
  return CODE.test(digits) ? digits : null
}

/** Bound to its token, so that a stored hash is worth nothing beside another row. */
export function hashCode(pepper: Uint8Array, tokenId: string, code: string): Buffer {
  if (!isUuid(tokenId)) throw new TypeError('a code belongs to a token')
  return createHmac('sha256', pepper).update(`${tokenId}${code}`).digest()
}

/** In constant time; any of the peppers may have made the hash (ID-56). */
export function codeMatches(peppers: readonly Uint8Array[], tokenId: string, code: string, hash: Uint8Array): boolean {
  return peppers
    .map((pepper) => timingSafeEqual(hashCode(pepper, tokenId, code), hash))
    .reduce((matches, each) => matches || each, false)
}
