import { createHash, randomBytes } from 'node:crypto'

/** A link's token, shown once, and what is stored of it (ROOM-150). */
export function newLinkToken(): { token: string; hash: Buffer } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: secretHash(token) }
}

/** What a token, or the key that a browser keeps, is looked up by. */
export const secretHash = (text: string): Buffer => createHash('sha256').update(text).digest()
