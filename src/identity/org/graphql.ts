import { queryFromInfo } from '@pothos/plugin-prisma'
import { prisma } from '../../db/prisma.ts'
import type { Org } from '../../generated/prisma/client.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { meets } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { enumOf } from '../../graphql/enums.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { requireNeed } from '../../graphql/require-need.ts'
import { userById } from '../user/loads.ts'
import type { OrgStatus } from './lock-org.ts'
import { followOrgState, orgState } from './state-stream.ts'

const OrgStatusEnum = enumOf<OrgStatus>('OrgStatus', 'What the org takes.', {
  active: 'Reads and writes.',
  archived: 'Reads; no writes but those about the org itself and people’s own profiles.',
  purging: 'Nothing: it is being removed.',
  purged: 'Nothing: it is gone.',
})

/** For whoever reads the org's shared things: not for participants and guests, who reach rooms alone (ID-4). */
const shared = (what: string) => ({
  nullable: true as const,
  ...perViewer(`${what} Null for guests and participants.`),
})
const forViewers =
  <T>(read: (org: Org) => T) =>
  (org: Org, _args: object, { caller }: Context): T | null =>
    meets('viewer', caller) ? read(org) : null

builder.prismaNode('Org', {
  description: 'The tenant: everything belongs to exactly one.',
  id: { resolve: (org) => org.id },
  nullable: true,
  // Row security shows the active org alone; without standing in it, not even that.
  findUnique: (id, context) => ({ id, ...(callerOf(context).standing === null && { AND: [NO_ROWS] }) }),
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'Its name in addresses; no two orgs share one.' }),
    name: t.exposeString('name', { description: 'Its name for people.' }),
    status: t.field({
      type: OrgStatusEnum,
      description: 'Whether it takes writes.',
      resolve: ({ status }) => status as OrgStatus,
    }),
    timeZone: t.exposeString('timeZone', { description: 'Of the IANA database; what a day is unless more is said.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    archivedAt: t.expose('archivedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is archived; null while it is active.',
    }),
    apiVersion: t.field({
      type: 'JSON',
      ...shared('The version of answers and webhooks that it was made under.'),
      resolve: forViewers(({ apiVersion }) => apiVersion),
    }),
    retentionDays: t.int({
      ...shared('How long what actions carried is kept, in days.'),
      resolve: forViewers(({ retentionDays }) => retentionDays),
    }),
    allowAnonymous: t.boolean({
      ...shared('Whether anonymous people may sign in.'),
      resolve: forViewers(({ allowAnonymous }) => allowAnonymous),
    }),
    settings: t.field({
      type: 'JSON',
      ...shared(
        'What admins keep here for clients to read; it means nothing to the server, and secrets have no place in it.',
      ),
      resolve: forViewers(({ settings }) => settings),
    }),
    stoppedAt: t.field({
      type: 'DateTime',
      ...shared('Since when no agent of the org may act; null while they may.'),
      resolve: forViewers(({ stoppedAt }) => stoppedAt),
    }),
    stoppedBy: t.field({
      type: 'User',
      ...shared('Who stopped the agents; null also when an admin key did.'),
      resolve: ({ stoppedById }, _args, context) =>
        stoppedById !== null && meets('viewer', context.caller) ? userById(context, stoppedById) : null,
    }),
    stopReason: t.string({
      ...shared('Why, as whoever stopped them put it.'),
      resolve: forViewers(({ stopReason }) => stopReason),
    }),
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

builder.subscriptionField('orgState', (t) =>
  t.field({
    type: 'Org',
    description:
      'The active org each time that it is stopped, resumed, archived or unarchived, as it is when the event is read.',
    authScopes: { needs: 'viewer' },
    extensions: { needs: 'viewer' }, // what its open streams must keep reaching
    subscribe: async (_root, _args, context) => {
      const caller = requireNeed('viewer', context)
      return followOrgState(
        { ...scopeOf(caller, context.requestId), orgId: caller.orgId },
        await orgState(caller.orgId),
      )
    },
    resolve: ({ orgId }, _args, context, info) =>
      prisma.org.findUniqueOrThrow({
        ...queryFromInfo({ context, info, typeName: 'Org' }),
        where: { id: orgId },
      } as never) as never,
  }),
)
