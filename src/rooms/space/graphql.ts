import { builder, callerOf } from '../../graphql/builder.ts'
import { visibleSpaces } from './access.ts'

builder.prismaNode('Space', {
  description: 'A team’s place: its members, its rooms.',
  id: { resolve: (space) => space.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...visibleSpaces(context) }),
  fields: (t) => ({
    slug: t.exposeString('slug'),
    name: t.exposeString('name'),
  }),
})
