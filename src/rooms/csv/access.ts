import type { Caller } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'

/**
 * Exports are for the members of a space who have a name in the org, its agents included: not for guests, anonymous people
 * or meeting clients (ROOM-22, 62, 155).
 */
export function requireExporter(caller: Caller): void {
  const isNamed = caller.account === 'registered' || caller.account === 'agent'
  if (!isNamed || caller.embedded) throw new ForbiddenError('You take no table out of a room.')
}
