import { builder, callerOf } from '../../graphql/builder.ts'
import { ACCOUNTS } from '../../graphql/caller.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { seesEmail } from './access.ts'

export const UserType = builder.enumType('UserType', { values: ['human', 'agent'] as const })
export const UserAccount = builder.enumType('UserAccount', {
  description: 'How the account came to be; it never changes (ID-12).',
  values: ACCOUNTS,
})
export const UserStatus = builder.enumType('UserStatus', {
  values: ['invited', 'active', 'disabled', 'erased'] as const,
})

builder.prismaNode('User', {
  description: 'A person or an agent. The row itself grants nothing; memberships and spaces do.',
  id: { resolve: (user) => user.id },
  nullable: true,
  // Who is visible is row security's to say: people with a membership or a home in the org, for guests those in their
  // room. Without standing in the org one sees oneself alone.
  findUnique: (id, context) => {
    const { standing, userId } = callerOf(context)
    return { id, ...(standing === null && { AND: [{ id: userId }] }) }
  },
  fields: (t) => ({
    displayName: t.exposeString('displayName'),
    type: t.field({ type: UserType, resolve: (user) => user.type as 'human' }),
    account: t.field({ type: UserAccount, resolve: (user) => user.account as 'registered' }),
    avatarIcon: t.exposeString('avatarIcon', { description: 'Opaque to the server; empty for none.' }),
    email: t.string({
      nullable: true,
      ...perViewer('Shown to oneself and to owners and admins of the org.'),
      resolve: (user, _args, { caller }) => (seesEmail(caller, user.id) ? user.email : null),
    }),
    status: t.field({ type: UserStatus, resolve: (user) => user.status as 'active' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})
