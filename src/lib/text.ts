const DISPLAY_NAME_MAX = 64

/** Line breaks, C0 and C1 controls, and what reorders the text around it: embeddings, overrides, isolates. */
const CONTROL_OR_BIDI = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Whether PostgreSQL can store the text: no U+0000, no lone surrogate (PLAT-59). */
export const isWellFormedText = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** The one spelling that is measured, compared and stored: NFC, trimmed (ROOM-7). */
export const cleanText = (text: string): string => text.normalize('NFC').trim()

/** Length in code points, as `char_length` counts them. */
export function codePointLength(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length - 1; at++) {
    if (isHighSurrogate(text.charCodeAt(at)) && isLowSurrogate(text.charCodeAt(at + 1))) {
      length--
      at++
    }
  }
  return length
}

/** The first `max` code points. */
export function firstCodePoints(text: string, max: number): string {
  if (text.length <= max) return text
  let end = 0
  for (let taken = 0; taken < max && end < text.length; taken++) {
    end += text.codePointAt(end)! > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}

/** What is wrong with a display name, or null (ID-11). Takes the cleaned text; never echoes it. */
export function displayNameFault(name: string): string | null {
  if (name === '') return 'must not be empty'
  if (codePointLength(name) > DISPLAY_NAME_MAX) return `must have at most ${DISPLAY_NAME_MAX} characters`
  if (!isWellFormedText(name) || CONTROL_OR_BIDI.test(name)) {
    return 'must not contain control or text-direction characters'
  }
  return null
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
