import { v7 } from 'uuid'
import { isUuidV7 } from './uuid.ts'

/** A new UUIDv7, monotonic within the process. */
export const newId = (): string => v7()

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const PREFIX = /^[a-z]{1,63}$/
const SUFFIX_LENGTH = 26

/** Ten bits as two characters. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => ALPHABET.charAt(bits >> 5) + ALPHABET.charAt(bits & 31))

/** Character code to five bits; -1 is no digit, upper case and Crockford's look-alikes (i, l, o, u) included. */
const DIGITS = new Int8Array(128).fill(-1)
for (let bits = 0; bits < 32; bits++) DIGITS[ALPHABET.charCodeAt(bits)] = bits

/** `('tkt', uuid)` → `tkt_01h455vb4pex5vsknk084sn02q`. Ids come from the database or `decodeTypeId`: another form is a bug and throws. */
export function encodeTypeId(prefix: string, uuid: string): string {
  if (!isUuidV7(uuid)) throw new TypeError('not a lower-case UUIDv7')
  const hex = uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24)
  let suffix = PAIRS[Number.parseInt(hex.slice(0, 2), 16)]!
  for (let at = 2; at < 32; at += 5) {
    const bits = Number.parseInt(hex.slice(at, at + 5), 16)
    suffix += PAIRS[bits >> 10]! + PAIRS[bits & 1023]!
  }
  return `${prefix}_${suffix}`
}

/** The parts of a global id, or null for anything but the one strict spelling (PLAT-58). */
export function decodeTypeId(text: string): { prefix: string; uuid: string } | null {
  const start = text.length - SUFFIX_LENGTH
  if (start < 2 || text[start - 1] !== '_') return null
  const prefix = text.slice(0, start - 1)
  if (!PREFIX.test(prefix)) return null

  const first = bitsAt(text, start, 2)
  if (first < 0 || first > 0xff) return null // 26 digits hold 130 bits, a UUID 128
  let hex = (first | 0x100).toString(16).slice(1)
  for (let at = start + 2; at < text.length; at += 4) {
    const bits = bitsAt(text, at, 4)
    if (bits < 0) return null
    hex += (bits | 0x100000).toString(16).slice(1)
  }
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  return isUuidV7(uuid) ? { prefix, uuid } : null
}

/** `count` digits as one number, -1 when one of them is none. */
function bitsAt(text: string, start: number, count: number): number {
  let bits = 0
  for (let at = start; at < start + count; at++) {
    const digit = DIGITS[text.charCodeAt(at)] ?? -1
    if (digit < 0) return -1
    bits = (bits << 5) | digit
  }
  return bits
}
