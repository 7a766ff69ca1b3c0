import type { Prisma } from '../../generated/prisma/client.ts'
import { type Caller, meets } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { standingOfRole } from '../session/standing.ts'
import type { LockedMember } from './lock-member.ts'
import type { Role } from './role.ts'

/** Admins change memberships; what is or becomes an owner's, only an owner (ID-6, 37). */
export function requireMayChange(caller: Caller, from: Role, to: Role = from): void {
  if (!meets('admin', caller)) throw new ForbiddenError()
  if ((from === 'owner' || to === 'owner') && caller.standing !== 'OWNER') {
    throw new ForbiddenError('Only an owner grants or takes the owner role.')
  }
}

/** The caller by their own membership as it is locked: whoever was demoted meanwhile decides no more (ID-2). */
export function asLocked(caller: Caller, own: LockedMember | null): Caller {
  if (caller.kind !== 'session') return caller
  const isLive = own?.joined === true && !own.revoked
  return {
    ...caller,
    standing: isLive && !caller.embedded ? (standingOfRole(own.role) as typeof caller.standing) : null,
  }
}

/** A membership that somebody has now; a partner of those who are invited, and of those whose membership has ended. */
export const LIVE = { joinedAt: { not: null }, revokedAt: null } as const satisfies Prisma.MembershipWhereInput

/** Everybody sees the live members, admins also who is invited and who is no member any more (ID-37). */
export function visibleMembers(caller: Caller): Prisma.MembershipWhereInput {
  const { orgId } = caller
  return meets('admin', caller) ? { orgId } : { orgId, ...LIVE }
}
