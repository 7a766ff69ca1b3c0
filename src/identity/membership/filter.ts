import type { Prisma } from '../../generated/prisma/client.ts'
import { arg } from '../../graphql/arguments.ts'
import { type Caller, meets } from '../../graphql/caller.ts'
import { by } from '../../graphql/columns.ts'
import { type Comparator, comparator, type Where } from '../../graphql/comparators.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { filterOf } from '../../graphql/filters.ts'
import { LIVE, visibleMembers } from './access.ts'
import { MEMBER_STATES, type MemberState, MemberStateEnum, RoleEnum } from './enums.ts'

function byState(): Comparator {
  return comparator<MemberState>({
    name: 'MemberStateFilter',
    value: arg.enum(MemberStateEnum),
    offers: ['eq', 'neq', 'in', 'nin'],
    ask: (_question, operand) => ({ OR: [operand].flat().map((state) => MEMBER_STATES[state as MemberState]) }),
  })
}

/**
 * The same of the person, which holds of nobody who has not accepted: whether they are called so elsewhere is not told
 * (ID-34). A membership has one person, so the comparison is never unknown.
 */
function ofUser({ type, check }: Comparator): Comparator {
  return { type, check: check.transform((where) => ({ user: where, joinedAt: { not: null } })) }
}

export const memberFilter = filterOf(
  'MemberFilter',
  {
    state: byState(),
    role: by.oneOf(RoleEnum, { column: 'role' }),
    username: by.text({ column: 'username' }),
    displayName: ofUser(by.text({ column: 'displayName' })),
    joinedAt: by.instant({ column: 'joinedAt', nullable: true }),
  },
  'Fields given together must all hold. Without `state` only live members are listed; the other states are for admins.',
)

/** Live members, unless an admin's filter names states (ID-37). `given` is the filter as the caller wrote it. */
export function membersWhere(caller: Caller, filter: Where, given: unknown): Prisma.MembershipWhereInput {
  const states = namesState(given)
  if (states && !meets('admin', caller)) throw new ForbiddenError('Only admins list members by state.')
  return { AND: [states ? visibleMembers(caller) : { orgId: caller.orgId, ...LIVE }, filter] }
}

function namesState(given: unknown): boolean {
  if (Array.isArray(given)) return given.some(namesState)
  if (typeof given !== 'object' || given === null) return false
  const { state, and, or, not } = given as Record<string, unknown>
  return state !== undefined || [and, or, not].some(namesState)
}
