import { hasScope, meets } from '../../graphql/caller.ts'
import type { Readers } from '../../platform/index.ts'

/** What happens in a space and its rooms is for its members, of deleted rooms too (PLAT-15). */
export const spaceReaders: Readers = (caller) =>
  meets('viewer', caller) && caller.kind !== 'admin_key' && hasScope('rooms:read', caller)
    ? { space: { members: { some: { userId: caller.userId } } } }
    : null
