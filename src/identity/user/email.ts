import { cleanText, codePointLength } from '../../lib/text.ts'

const MAX_LENGTH = 254
/**
 * Something on either side of one @, without spaces, controls, and what has a meaning of its own where addresses are
 * listed or hosts are named: mail would go to another address than the one that is stored. What else is legal, mail will tell.
 */
const EMAIL = /^[^\s\p{C}@<>()[\]\\,;:"]+@[^\s\p{C}@<>()[\]\\,;:"\u3002\uff0e\uff61]+$/u

/** The one spelling that is stored and looked up. */
export const emailOf = (text: string): string => cleanText(text).toLowerCase()

/** What is wrong with an email, or null. Takes the one spelling; never echoes it. */
export function emailFault(email: string): string | null {
  if (!EMAIL.test(email)) return 'must be an email address'
  if (codePointLength(email) > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`
  return null
}

export const localPart = (email: string): string => email.slice(0, email.lastIndexOf('@'))
