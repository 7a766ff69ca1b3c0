import { invalidInput } from '../../graphql/errors.ts'
import { eventTypes, eventTypesMatching } from '../audit/registry.ts'

/** What an endpoint asks for: deliverable types by name, by a wildcard such as `room.*`, or all of them by `*` (PLAT-35). */
export function requireEventTypes(patterns: readonly string[]): string[] {
  const known = [...new Set(patterns)]
  if (known.length === 0) throw invalidInput('eventTypes', 'must name at least one')
  for (const pattern of known) {
    const types = pattern === '*' ? eventTypes() : eventTypesMatching(pattern)
    if (!types.some(({ deliverable }) => deliverable)) {
      throw invalidInput(`eventTypes.${patterns.indexOf(pattern)}`, 'stands for no event that is delivered')
    }
  }
  return known
}
