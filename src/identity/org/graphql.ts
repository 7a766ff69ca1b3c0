import { prisma } from '../../db/prisma.ts'
import { builder, callerOf } from '../../graphql/builder.ts'

builder.prismaNode('Org', {
  description: 'The tenant: everything belongs to exactly one.',
  id: { resolve: (org) => org.id },
  nullable: true,
  // Row security shows the active org alone; without standing in it, not even that.
  findUnique: (id, context) => ({ id, ...(callerOf(context).standing === null && { AND: [{ id: { in: [] } }] }) }),
  fields: (t) => ({
    slug: t.exposeString('slug'),
    name: t.exposeString('name'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

builder.queryField('org', (t) =>
  t.prismaField({
    type: 'Org',
    nullable: true,
    description: 'The active org.',
    authScopes: { needs: 'standing' },
    resolve: (query, _root, _args, context) =>
      prisma.org.findUnique({ ...query, where: { id: callerOf(context).orgId } }),
  }),
)
