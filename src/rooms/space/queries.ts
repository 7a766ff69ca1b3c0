import { prisma } from '../../db/prisma.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { meets } from '../../graphql/caller.ts'
import { by } from '../../graphql/columns.ts'
import { pageOf } from '../../graphql/connection.ts'
import { ForbiddenError, InvalidInputError } from '../../graphql/errors.ts'
import { filterOf } from '../../graphql/filters.ts'
import type { SortKey } from '../../graphql/keyset.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { ViewerType } from '../../identity/index.ts'
import { visibleSpaces } from './access.ts'
import { SpaceConnection, SpaceEdge } from './graphql.ts'
import { ownSpaces } from './own-spaces.ts'

const BY_NAME: readonly SortKey[] = [
  { field: 'name', type: 'text' },
  { field: 'id', type: 'uuid' },
]
const spaceFilter = filterOf('SpaceFilter', { slug: by.text({ column: 'slug' }), name: by.text({ column: 'name' }) })
const directory = argumentsOf({
  filter: spaceFilter.nullable(),
  includeArchived: arg
    .boolean()
    .optional()
    .describe('Archived ones too; for owners and admins, who may unarchive them.'),
})

builder.queryField('spaces', (t) =>
  t.connection(
    {
      type: 'Space',
      nullable: true,
      description:
        'The org’s directory: its spaces by name, but archived ones. For every registered member of the org.',
      args: directory.args,
      authScopes: { needs: 'person', scope: 'rooms:read' },
      resolve: pageOf({
        type: 'Space',
        order: BY_NAME,
        model: prisma.space,
        where: (context, args) => {
          const { filter, includeArchived = false } = directory.values(args)
          const caller = callerOf(context)
          if (includeArchived && !meets('admin', caller)) throw new ForbiddenError('Only admins list archived spaces.')
          return { AND: [{ orgId: caller.orgId, ...(!includeArchived && { archivedAt: null }) }, filter ?? {}] }
        },
      }),
    },
    SpaceConnection,
    SpaceEdge,
  ),
)

const one = argumentsOf({ id: arg.id('Space').optional(), slug: arg.text({ max: 64 }).optional() })

builder.queryField('space', (t) =>
  t.prismaField({
    type: 'Space',
    nullable: true,
    args: one.args,
    authScopes: { needs: 'standing', scope: 'rooms:read' },
    description: 'A space that the caller is a member of, by its id or its slug; null for any other.',
    resolve: (query, _root, args, context) => {
      const { id, slug } = one.values(args)
      const { orgId } = callerOf(context)
      const visible = visibleSpaces(context)
      if (id !== undefined && slug === undefined) {
        return prisma.space.findUnique({ ...query, where: { orgId_id: { orgId, id }, ...visible } })
      }
      if (slug !== undefined && id === undefined) {
        return prisma.space.findUnique({ ...query, where: { orgId_slug: { orgId, slug }, ...visible } })
      }
      throw new InvalidInputError([{ path: ['id'], message: 'give either id or slug' }])
    },
  }),
)

builder.objectField(ViewerType, 'spaces', (t) =>
  t.connection(
    {
      type: 'Space',
      ...perViewer('Spaces the viewer is a member of, the one seen last first (`spaceSeen`).'),
      resolve: (_viewer, args, context, info) => ownSpaces(context, args, info),
    },
    SpaceConnection,
    SpaceEdge,
  ),
)
