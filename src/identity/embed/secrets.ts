import { createHmac, randomInt } from 'node:crypto'
import { invalidInput } from '../../graphql/errors.ts'
import { sha256 } from '../../lib/sha256.ts'
import { derivedKeys } from '../derived-keys.ts'

/** 32 bytes in base64url without padding, spelled in the one way there is: the last character has no spare bits. */
const BYTES_32 = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/** The 32 bytes of an input, or InvalidInputError naming it. */
export function bytes32(path: string, text: string): Buffer {
  if (!BYTES_32.test(text)) throw invalidInput(path, 'must be 32 bytes in base64url without padding')
  return Buffer.from(text, 'base64url')
}

/** What the frame sends first, and all that is kept of its verifier (ID-30). */
export const challengeOf = (verifier: Uint8Array): Buffer => sha256(verifier)

/** No letter or digit that could be read as another. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ'
const CODE_LENGTH = 6

/** What the frame shows, to be typed by whoever binds it. */
export function newDisplayCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

/** Who begins a hand-off, for counting: nothing that leads back to the address (PLAT-82). */
export const clientKeyOf = (addressKey: string): string =>
  createHmac('sha256', derivedKeys('embed client')[0]).update(addressKey).digest('base64url')
