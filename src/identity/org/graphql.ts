import { builder } from '../../graphql/builder.ts'

builder.prismaNode('Org', {
  description: 'The tenant: everything belongs to exactly one.',
  id: { resolve: (org) => org.id },
  nullable: true,
  findUnique: (id) => ({ id }), // row security shows the caller's own alone
  fields: (t) => ({
    slug: t.exposeString('slug'),
    name: t.exposeString('name'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})
