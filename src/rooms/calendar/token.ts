import { randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../lib/sha256.ts'

const BYTES = 32
const PREFIX = 8

export type NewToken = { token: string; hash: Buffer; prefix: string }
/** What of an address is looked up, and what is compared. */
export type Presented = { prefix: string; hash: Buffer; wellFormed: boolean }

/** The secret part of a feed's address, shown once, and what is stored of it (ROOM-140). */
export function newToken(): NewToken {
  const bytes = randomBytes(BYTES)
  const token = bytes.toString('base64url')
  return { token, hash: sha256(bytes), prefix: token.slice(0, PREFIX) }
}

/**
 * Reads what somebody asks with. What cannot be a token becomes one that nobody has, so that it takes the same way through
 * the server as a wrong one (ROOM-141).
 */
export function presented(token: string): Presented {
  const bytes = Buffer.from(token.slice(0, 64), 'base64url')
  // Of the same bytes there are several spellings; one of them was shown.
  const wellFormed = bytes.length === BYTES && bytes.toString('base64url') === token
  const read = wellFormed ? bytes : Buffer.alloc(BYTES)
  return { prefix: read.toString('base64url').slice(0, PREFIX), hash: sha256(read), wellFormed }
}

const DUMMY = randomBytes(32)

/** In constant time, and in the same time where there is nothing to compare with. */
export function isSame({ hash, wellFormed }: Presented, stored: Uint8Array | undefined): boolean {
  const equal = timingSafeEqual(hash, stored ?? DUMMY)
  return equal && wellFormed && stored !== undefined
}
