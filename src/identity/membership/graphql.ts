import { prisma } from '../../db/prisma.ts'
import type { Membership } from '../../generated/prisma/client.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { meets } from '../../graphql/caller.ts'
import { connectionType, pageOf } from '../../graphql/connection.ts'
import { enumOf } from '../../graphql/enums.ts'
import { InvalidInputError } from '../../graphql/errors.ts'
import type { SortKey } from '../../graphql/keyset.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { userById } from '../user/loads.ts'
import { visibleMembers } from './access.ts'
import { RoleEnum } from './enums.ts'
import { memberFilter, membersWhere } from './filter.ts'
import type { Role } from './role.ts'

export const MemberType = builder.prismaObject('Membership', {
  name: 'Member',
  description: 'A registered person’s belonging to the org.',
  fields: (t) => ({
    userId: t.globalID({
      description: 'Id of the person; what `memberUpdate` and `memberRevoke` take.',
      resolve: ({ userId }) => ({ type: 'User', id: userId }),
    }),
    user: t.field({
      type: 'User',
      nullable: true,
      description: 'The person; null while they have not accepted, when what they are elsewhere is theirs alone.',
      resolve: ({ userId, joinedAt }, _args, context) => (joinedAt === null ? null : userById(context, userId)),
    }),
    email: t.string({
      nullable: true,
      ...perViewer('Of somebody who is invited, as it was given; for admins.'),
      resolve: async ({ userId, joinedAt, revokedAt }, _args, context) => {
        if (joinedAt !== null || revokedAt !== null || !meets('admin', context.caller)) return null
        return (await userById(context, userId))?.email ?? null
      },
    }),
    role: t.field({ type: RoleEnum, description: 'How far they reach.', resolve: ({ role }) => role as Role }),
    username: t.exposeString('username', { description: 'Unique in the org, among its agents too.' }),
    joinedAt: t.expose('joinedAt', { type: 'DateTime', nullable: true, description: 'Null while they are invited.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the membership, or the invitation, was ended.',
    }),
  }),
})

const ORDERS = {
  username: [{ field: 'username', type: 'text' }],
  joined: [
    { field: 'joinedAt', type: 'instant', nullable: true },
    { field: 'userId', type: 'uuid' },
  ],
  joined_last: [
    { field: 'joinedAt', type: 'instant', nullable: true, descending: true },
    { field: 'userId', type: 'uuid', descending: true },
  ],
} as const satisfies Record<string, readonly SortKey[]>
type Order = keyof typeof ORDERS

const MemberOrderEnum = enumOf('MemberOrder', 'The order of members; who has not joined comes last.', {
  username: 'By username.',
  joined: 'Who joined first comes first.',
  joined_last: 'Who joined last comes first.',
} satisfies Record<Order, string>)

const [MemberConnection, MemberEdge] = connectionType(MemberType, 'Member')
const list = argumentsOf({
  filter: memberFilter.nullable(),
  orderBy: arg.enum(MemberOrderEnum).optional().describe('USERNAME when left out.'),
})

builder.queryField('members', (t) =>
  t.connection(
    {
      type: MemberType,
      nullable: true,
      description: 'The org’s members; for admins also who is invited or was a member, where the filter names states.',
      args: list.args,
      authScopes: { needs: 'viewer' },
      resolve: (parent, args, context, info) => {
        const { filter, orderBy = 'username' } = list.values(args)
        const where = membersWhere(callerOf(context), filter ?? {}, args['filter'])
        const page = pageOf<Membership>({
          type: 'Member',
          order: ORDERS[orderBy],
          model: prisma.membership,
          where: () => where,
        })
        return page(parent, args, context, info) as never
      },
    },
    MemberConnection,
    MemberEdge,
  ),
)

const one = argumentsOf({ userId: arg.id('User').optional(), username: arg.text({ max: 64 }).optional() })

builder.queryField('member', (t) =>
  t.prismaField({
    type: MemberType,
    nullable: true,
    description: 'A member of the org by their id or username; for admins also one who is invited or was a member.',
    args: one.args,
    authScopes: { needs: 'viewer' },
    resolve: (query, _root, args, context) => {
      const { userId, username } = one.values(args)
      if ((userId === undefined) === (username === undefined)) {
        throw new InvalidInputError([{ path: ['userId'], message: 'give either userId or username' }])
      }
      const named = userId === undefined ? { username: username!.toLowerCase() } : { userId }
      return prisma.membership.findFirst({ ...query, where: { AND: [named, visibleMembers(callerOf(context))] } })
    },
  }),
)
