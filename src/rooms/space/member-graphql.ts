import { builder } from '../../graphql/builder.ts'
import { connectionType } from '../../graphql/connection.ts'
import { enumOf } from '../../graphql/enums.ts'
import type { SortKey } from '../../graphql/keyset.ts'
import { userById } from '../../identity/index.ts'
import { isOrgViewer } from './loads.ts'
import { SPACE_ROLES, type SpaceRole } from './membership.ts'

export const SpaceRoleEnum = enumOf(
  'SpaceRole',
  'The only permission of a space: owners add and remove members and set roles.',
  SPACE_ROLES,
)

builder.prismaObject('SpaceMember', {
  description: 'Somebody’s belonging to a space.',
  fields: (t) => ({
    user: t.field({
      type: 'User',
      nullable: true,
      description: 'The person or agent.',
      resolve: ({ userId }, _args, context) => userById(context, userId),
    }),
    role: t.field({
      type: SpaceRoleEnum,
      description: 'What they may do in the space.',
      resolve: ({ role }) => role as SpaceRole,
    }),
    spectator: t.boolean({
      description: 'Watches in all rooms of the space and does not vote; viewers of the org always do.',
      resolve: async ({ spectator, userId }, _args, context) =>
        spectator || (await isOrgViewer(context, userId)) !== null,
    }),
    joinedAt: t.expose('joinedAt', { type: 'DateTime', description: 'When they became a member.' }),
  }),
})

export const [SpaceMemberConnection, SpaceMemberEdge] = connectionType('SpaceMember', 'SpaceMember')

export const IN_ORDER_OF_JOINING: readonly SortKey[] = [
  { field: 'joinedAt', type: 'instant' },
  { field: 'userId', type: 'uuid' },
]
