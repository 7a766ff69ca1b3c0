import { randomBytes } from 'node:crypto'
import { sha256 } from '../../lib/sha256.ts'

/** A link's token, shown once, and what is stored of it (ROOM-150). */
export function newLinkToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: sha256(token) }
}
