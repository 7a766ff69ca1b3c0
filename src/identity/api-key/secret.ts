import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { identitySettings, type KeyPepper } from '../settings.ts'

export const KEY_MODES = ['live', 'test'] as const
export type KeyMode = (typeof KEY_MODES)[number]

const FORM = /^mh_(?:live|test)_([A-Za-z0-9]{8})([A-Za-z0-9_-]{43})$/
const PREFIX_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const PREFIX_LENGTH = 8

export type NewSecret = { key: string; prefix: string; secretHash: Buffer; pepperId: number }

/** A key, shown once, and what is stored of it (ID-50). */
export function newSecret(mode: KeyMode): NewSecret {
  const [pepper] = identitySettings().keyPeppers
  if (!pepper) throw new Error('there is no pepper to hash keys with')
  const prefix = Array.from(
    { length: PREFIX_LENGTH },
    () => PREFIX_CHARACTERS[randomInt(PREFIX_CHARACTERS.length)],
  ).join('')
  const secret = randomBytes(32).toString('base64url')
  return { key: `mh_${mode}_${prefix}${secret}`, prefix, secretHash: hash(pepper, secret), pepperId: pepper.id }
}

/** Whether a bearer token is a key rather than a session's, in form at least. */
export const isKey = (token: string): boolean => token.startsWith('mh_')

/** The prefix to look a key up by and the secret to compare; null when it cannot be one of ours. */
export function partsOf(key: string): { prefix: string; secret: string } | null {
  const [, prefix, secret] = FORM.exec(key) ?? []
  return prefix && secret ? { prefix, secret } : null
}

const DUMMY = randomBytes(32)

/** Compares in constant time, an unknown key with a hash that nothing has: neither way takes longer (ID-51). */
export function secretMatches(secret: string, stored: { hash: Uint8Array; pepperId: number } | undefined): boolean {
  const { keyPeppers } = identitySettings()
  const own = keyPeppers.find(({ id }) => id === stored?.pepperId)
  const pepper = own ?? keyPeppers[0]
  if (!pepper) return false
  const equal = timingSafeEqual(hash(pepper, secret), stored?.hash ?? DUMMY)
  return equal && own !== undefined
}

/** The secret as it is written: of its bytes there are several spellings. */
const hash = ({ secret: pepper }: KeyPepper, secret: string): Buffer =>
  createHmac('sha256', pepper).update(secret).digest()
