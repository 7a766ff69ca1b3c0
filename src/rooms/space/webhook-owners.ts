import { type Caller, meets } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import { registerSpaceOwners } from '../../platform/index.ts'
import { actsAsOwner } from './access.ts'
import { requireMember } from './membership.ts'

// Whose a space's webhook is: its owners', who see what it is sent anyway, and not the org's admins' (ID-6).
registerSpaceOwners({
  owned: (caller: Caller) =>
    meets('member', caller) ? { members: { some: { userId: caller.userId, role: 'owner' } } } : NO_ROWS,
  require: async (caller, spaceId, path) => {
    if (caller.kind === 'admin_key') throw new NotFoundError(path)
    const own = await requireMember(caller, spaceId, path)
    if (!actsAsOwner(caller, own)) throw new ForbiddenError('Only the owners of the space may do that.')
  },
})
