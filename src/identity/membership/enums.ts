import type { Prisma } from '../../generated/prisma/client.ts'
import { enumOf } from '../../graphql/enums.ts'
import { LIVE } from './access.ts'
import type { Role } from './role.ts'

export const RoleEnum = enumOf('Role', 'What a registered person is in an org.', {
  owner: 'Administers, grants and takes this role, and may purge the org.',
  admin: 'Administers the org: its members, agents, keys, webhooks, log.',
  member: 'Works.',
  viewer: 'Reads what a member reads, and watches.',
} satisfies Record<Role, string>)

/** What a membership is: exactly one of these. */
export const MEMBER_STATES = {
  live: LIVE,
  invited: { joinedAt: null, revokedAt: null },
  revoked: { revokedAt: { not: null } },
} as const satisfies Record<string, Prisma.MembershipWhereInput>
export type MemberState = keyof typeof MEMBER_STATES

export const MemberStateEnum = enumOf('MemberState', 'What a membership is.', {
  live: 'Somebody is a member.',
  invited: 'Somebody was invited and has not accepted.',
  revoked: 'The membership or the invitation has ended.',
} satisfies Record<MemberState, string>)
