import { builder, callerOf } from '../../graphql/builder.ts'
import { ACCOUNTS, type Account } from '../../graphql/caller.ts'
import { enumOf } from '../../graphql/enums.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { seesAgents } from '../agent/access.ts'
import { agentById } from '../agent/loads.ts'
import { findableUsers, seesEmail } from './access.ts'

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
  findUnique: (id, context) => ({ id, AND: [findableUsers(callerOf(context))] }),
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
      ...perViewer('Shown to oneself, and to owners and admins of an org that both are of.'),
      resolve: async (user, _args, context) => ((await seesEmail(context, user.id)) ? user.email : null),
    }),
    status: t.field({
      type: UserStatusEnum,
      description: 'Whether they can sign in.',
      resolve: (user) => user.status as (typeof STATUSES)[number],
    }),
    agent: t.field({
      type: 'Agent',
      nullable: true,
      ...perViewer('What it may do, if it is an agent. For whoever reads the org’s shared things.'),
      resolve: ({ id, account }, _args, context) =>
        account === 'agent' && seesAgents(context.caller) ? agentById(context, id) : null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was made.' }),
  }),
})
