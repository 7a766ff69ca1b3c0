import { invalidInput } from '../../graphql/errors.ts'
import { cleanText, displayNameFault } from '../../lib/text.ts'

const SLUG = /^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$/

export function requireSlug(slug: string): void {
  if (!SLUG.test(slug)) throw invalidInput('slug', 'must have 3 to 40 of a-z, 0-9 and inner hyphens')
}

/** The org's name in the one spelling that is stored. */
export function orgNameOf(text: string): string {
  const name = cleanText(text)
  const fault = displayNameFault(name)
  if (fault) throw invalidInput('name', fault)
  return name
}
