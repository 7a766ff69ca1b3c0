import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import type { SchemaTypes } from '../../graphql/builder.ts'
import { mutation } from '../../graphql/mutation.ts'
import { archiveOrg, unarchiveOrg } from './archive-org.ts'
import { createOrg } from './create-org.ts'
import { purgeOrg } from './purge-org.ts'
import { resumeOrg, stopOrg } from './stop-org.ts'
import { OrgSummaryType } from './summary.ts'
import { updateOrg } from './update-org.ts'

/** The org as the mutation left it. */
const org = <R extends { orgId: string }>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, R>) => ({
  org: t.prismaField({
    type: 'Org',
    nullable: true,
    description: 'As it is now.',
    resolve: (query, { orgId }) => prisma.org.findUnique({ ...query, where: { id: orgId } }),
  }),
})

const slug = arg.text({ max: 40 }).describe('3 to 40 of a-z, 0-9 and inner hyphens; not taken by another org.')
const reason = arg.text({ max: 280 }).optional().describe('For the record; at most 280 characters.')

mutation('orgCreate', {
  description: 'Makes an org with oneself as its owner. Only where the operator lets people make orgs.',
  input: {
    slug,
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

mutation('orgUpdate', {
  description: 'Changes what the org is called and how it behaves. For owners, admins and admin keys.',
  input: {
    name: arg.text({ max: 64 }).optional().describe('Its name for people.'),
    slug: slug.optional(),
    timeZone: arg.exact(64).optional().describe('Of the IANA database, such as `Europe/Berlin`.'),
    retentionDays: arg.int(7, 3_650).optional().describe('How long what actions carried is kept, 7 to 3650 days.'),
    allowAnonymous: arg.boolean().optional().describe('Whether anonymous people may sign in.'),
    settings: arg.json().optional().describe('An object, at most 32 KiB, that replaces the one there is.'),
  },
  needs: 'admin',
  run: updateOrg,
  payload: org,
})

mutation('orgStop', {
  description: 'Stops all agents of the org at once; people work on. For owners, admins and admin keys.',
  input: { reason },
  needs: 'admin',
  run: stopOrg,
  payload: org,
})

mutation('orgResume', {
  description: 'Lets the org’s agents act again. For owners and admins in person.',
  input: { reason },
  needs: 'adminPerson',
  run: resumeOrg,
  payload: org,
})

mutation('orgArchive', {
  description:
    'Keeps the org as it is: it is read, and takes no writes but those about the org itself and people’s own profiles.',
  input: { reason },
  needs: 'admin',
  run: archiveOrg,
  payload: org,
})

mutation('orgUnarchive', {
  description: 'Lets an archived org take writes again.',
  input: { reason },
  needs: 'admin',
  run: unarchiveOrg,
  payload: org,
})

mutation('orgPurge', {
  description:
    'Ends an archived org for good: everybody is signed out at once, and what it holds is deleted within minutes. For ' +
    'owners. What was recorded as durable stays, for the operator.',
  input: { confirmSlug: slug.describe('The org’s slug, to be sure.') },
  needs: 'owner',
  operations: 'own',
  run: purgeOrg,
  payload: (t) => ({
    slug: t.exposeString('slug', { description: 'What it was called; free for another org once it is gone.' }),
  }),
})
