import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { mutation } from '../../graphql/mutation.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import { createOrg } from './create-org.ts'
import { OrgSummaryType } from './summary.ts'

builder.prismaNode('Org', {
  description: 'The tenant: everything belongs to exactly one.',
  id: { resolve: (org) => org.id },
  nullable: true,
  // Row security shows the active org alone; without standing in it, not even that.
  findUnique: (id, context) => ({ id, ...(callerOf(context).standing === null && { AND: [NO_ROWS] }) }),
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'Its name in addresses; no two orgs share one.' }),
    name: t.exposeString('name', { description: 'Its name for people.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
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

mutation('orgCreate', {
  description: 'Makes an org with oneself as its owner. Only where the operator lets people make orgs.',
  input: {
    slug: arg.text({ max: 40 }).describe('3 to 40 of a-z, 0-9 and inner hyphens; not taken by another org.'),
    name: arg.text({ max: 64 }).describe('Its name for people.'),
    allowAnonymous: arg.boolean().optional().describe('Whether anonymous people may take part; false when left out.'),
  },
  needs: 'person',
  operations: 'own',
  run: createOrg,
  payload: (t) => ({
    org: t.field({
      type: OrgSummaryType,
      description: 'It is not the active one yet.',
      resolve: ({ org }) => org,
    }),
  }),
})
