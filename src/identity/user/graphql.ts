import { builder, callerOf } from '../../graphql/builder.ts'
import { ACCOUNTS, type Account } from '../../graphql/caller.ts'
import { enumOf } from '../../graphql/enums.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { seesEmail } from './access.ts'

const TYPES = ['human', 'agent'] as const
const STATUSES = ['invited', 'active', 'disabled', 'erased'] as const

const UserTypeEnum = enumOf('UserType', 'A person, or an agent.', TYPES)
const UserAccountEnum = enumOf('UserAccount', 'How the account came to be; it never changes (ID-12).', ACCOUNTS)
const UserStatusEnum = enumOf(
  'UserStatus',
  'Only who is active signs in. ERASED: the person is gone, their row stands for what they left.',
  STATUSES,
)

builder.prismaNode('User', {
  description: 'A person or an agent. The row itself grants nothing; memberships and spaces do.',
  id: { resolve: (user) => user.id },
  nullable: true,
  // Who is visible is row security's to say: people with a membership or a home in the org, for guests those in their
  // room. By their id participants find only whom they meet in their spaces, since they have no directory of the org
  // (ID-4); without standing in the org one sees oneself alone.
  findUnique: (id, context) => {
    const { standing, userId } = callerOf(context)
    if (standing === null) return { id, AND: [{ id: userId }] }
    if (standing !== 'PARTICIPANT') return { id }
    const space = { members: { some: { userId } } }
    const met = [{ spaceMemberships: { some: { space } } }, { roomParticipants: { some: { room: { space } } } }]
    return { id, OR: [{ id: userId }, ...met] }
  },
  fields: (t) => ({
    displayName: t.exposeString('displayName', { description: 'What others see; two people may share one.' }),
    type: t.field({
      type: UserTypeEnum,
      description: 'A person, or an agent.',
      resolve: (user) => user.type as (typeof TYPES)[number],
    }),
    account: t.field({
      type: UserAccountEnum,
      description: 'How the account came to be.',
      resolve: (user) => user.account as Account,
    }),
    avatarIcon: t.exposeString('avatarIcon', { description: 'Opaque to the server; empty for none.' }),
    email: t.string({
      nullable: true,
      ...perViewer('Shown to oneself and to owners and admins of the org.'),
      resolve: (user, _args, { caller }) => (seesEmail(caller, user.id) ? user.email : null),
    }),
    status: t.field({
      type: UserStatusEnum,
      description: 'Whether they can sign in.',
      resolve: (user) => user.status as (typeof STATUSES)[number],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was made.' }),
  }),
})
