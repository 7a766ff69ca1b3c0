import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { ed25519KeyFault } from '../../lib/ed25519.ts'

const PREFIX = 'ed25519:'
const FORM = /^ed25519:[A-Za-z0-9_-]{43}$/

/** An entry of `agents.intent_keys`; `created_by` is the UUID of the person or of the admin key. */
export type IntentKey = { kid: string; public_key: string; created_at: string; created_by: string }

const stored = z.array(
  z.object({ kid: z.string(), public_key: z.string(), created_at: z.string(), created_by: z.string() }),
)

/** The column as a list; one that is off its shape holds no key. */
export function intentKeysIn(column: unknown): IntentKey[] {
  const read = stored.safeParse(column)
  return read.success ? read.data : []
}

/** The raw key in a text, or what is wrong with it. */
export function readPublicKey(text: string): { raw: Buffer } | { fault: string } {
  if (!FORM.test(text)) return { fault: `must be ${PREFIX} and 43 characters of base64url` }
  const raw = Buffer.from(text.slice(PREFIX.length), 'base64url')
  // The last character has two bits to spare: one key, one spelling.
  if (raw.toString('base64url') !== text.slice(PREFIX.length)) return { fault: 'must be canonical base64url' }
  const fault = ed25519KeyFault(raw)
  return fault === null ? { raw } : { fault }
}

/** How a signed intent names its key. */
export const kidOf = (raw: Uint8Array): string => createHash('sha256').update(raw).digest('hex').slice(0, 32)

/**
 * The key of that name among an agent's, to verify one intent with; null when there is none or it cannot be trusted. The
 * row's word is not taken for it: our own check comes before node:crypto sees the bytes, at every use (ID-48).
 */
export function usableIntentKey(column: unknown, kid: string): KeyObject | null {
  const key = intentKeysIn(column).find((each) => each.kid === kid)
  const read = key && readPublicKey(key.public_key)
  if (!read || 'fault' in read || kidOf(read.raw) !== kid) return null
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: read.raw.toString('base64url') }, format: 'jwk' })
  } catch {
    return null
  }
}
