import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import type { SchemaTypes } from '../../graphql/builder.ts'
import { LastOwnerError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { ViewerType, viewer } from '../viewer/viewer-type.ts'
import { visibleMembers } from './access.ts'
import { RoleEnum } from './enums.ts'
import { MemberType } from './graphql.ts'
import { inviteMember } from './invite-member.ts'
import { leaveOrg } from './leave-org.ts'
import { revokeMember } from './revoke-membership.ts'
import { updateMember } from './update-member.ts'

/** The membership as it is after the commit; null once it is not the caller's to see. */
const memberField = <Parent extends { userId: string }>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>) =>
  t.prismaField({
    type: MemberType,
    nullable: true,
    description: 'The membership as it is now; null once it is no longer the caller’s to see.',
    resolve: (query, { userId }, _args, { caller }) =>
      caller && prisma.membership.findFirst({ ...query, where: { AND: [{ userId }, visibleMembers(caller)] } }),
  })

const username = arg
  .text({ max: 39 })
  .describe('Letters, digits, dots, hyphens and underscores; kept in lower case, unique in the org.')

mutation('memberInvite', {
  description:
    'Invites somebody by email. The mail holds a link that is good for 7 days; inviting again voids it and sends ' +
    'another, 5 an hour at most. The answer does not tell whether the email had an account. Owners and admins may, and ' +
    'nobody grants more than they are.',
  input: {
    email: arg.text({ max: 254 }).describe('In any case; it is kept in lower case.'),
    role: arg.enum(RoleEnum).describe('What they become when they accept.'),
    username: username.optional().describe('Made from the email when left out.'),
  },
  errors: [LastOwnerError],
  needs: 'admin',
  operations: 'own',
  run: inviteMember,
  payload: (t) => ({
    email: t.exposeString('email', { description: 'Where the mail goes.' }),
    role: t.expose('role', { type: RoleEnum, description: 'What they become when they accept.' }),
    username: t.exposeString('username', {
      description: 'What they are called in the org; `member` finds them by it.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Until when the link is good.',
      resolve: ({ expiresAt }) => expiresAt.toISOString(),
    }),
  }),
})

mutation('memberUpdate', {
  description:
    'Gives a member, or somebody who is invited, another role or username. Owners and admins may; what is or becomes ' +
    'an owner’s, only owners. What is left out stays.',
  input: {
    userId: arg.id('User'),
    role: arg.enum(RoleEnum).optional().describe('Their role from now on.'),
    username: username.optional(),
  },
  errors: [LastOwnerError],
  needs: 'admin',
  operations: 'own',
  run: updateMember,
  payload: (t) => ({ member: memberField(t) }),
})

mutation('memberRevoke', {
  description:
    'Ends a membership or an invitation: the person’s sessions in the org end, and they are out of its spaces. Owners ' +
    'and admins may; an owner’s, only owners. Again, it does nothing.',
  input: { userId: arg.id('User') },
  errors: [LastOwnerError],
  needs: 'admin',
  operations: 'own',
  run: revokeMember,
  payload: (t) => ({ member: memberField(t) }),
})

mutation('memberLeave', {
  description: 'Ends one’s own membership of the active org, and with it the session. The last owner stays.',
  input: {},
  errors: [LastOwnerError],
  needs: 'person',
  operations: 'own',
  run: leaveOrg,
  payload: (t) => ({
    orgId: t.globalID({
      description: 'The org that was left.',
      resolve: ({ orgId }) => ({ type: 'Org', id: orgId }),
    }),
    viewer: t.field({ type: ViewerType, description: 'Nobody, from here on.', resolve: () => viewer }),
  }),
})
