import { type Json, redact } from '../../lib/redact.ts'
import { truncate } from '../../lib/truncate.ts'

const MAX_BYTES = 4_096

/**
 * A call's arguments as they may be kept: redacted, then cut to 4 KiB (PLAT-21, 24). Counted is the text that the database
 * makes of them, which has blanks that JSON does without.
 */
export function storedArguments(given: unknown): Json {
  const redacted = storable(redact(given))
  let bound = MAX_BYTES
  for (;;) {
    const cut = truncate(redacted, bound)
    const excess = bytesInDatabase(cut) - MAX_BYTES
    if (excess <= 0) return cut
    bound -= excess
  }
}

/** The same with text that PostgreSQL can store: no U+0000, no half of a surrogate pair; and no number that it spells out. */
function storable(value: Json): Json {
  if (typeof value === 'string') return storableText(value)
  if (typeof value === 'number') return String(value).includes('e') ? String(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(storable)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [storableText(key), storable(member)]))
}

export const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

/** Of jsonb's text: JSON with a blank behind each comma and colon. */
function bytesInDatabase(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value)) + blanksIn(value)
}

function blanksIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  const own = Math.max(0, members.length - 1) + (Array.isArray(value) ? 0 : members.length)
  return members.reduce<number>((sum, member) => sum + blanksIn(member), own)
}
