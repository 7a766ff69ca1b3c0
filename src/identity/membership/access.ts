import { type Caller, meets } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import type { Role } from './role.ts'

/** Admins change memberships; what is or becomes an owner's, only an owner (ID-6, 37). */
export function requireMayChange(caller: Caller, from: Role, to: Role = from): void {
  if (!meets('admin', caller)) throw new ForbiddenError()
  if ((from === 'owner' || to === 'owner') && caller.standing !== 'OWNER') {
    throw new ForbiddenError('Only an owner grants or takes the owner role.')
  }
}
