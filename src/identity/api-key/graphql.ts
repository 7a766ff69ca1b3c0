import { prisma } from '../../db/prisma.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import type { KeyScope } from '../../graphql/caller.ts'
import { connectionType, pageOf } from '../../graphql/connection.ts'
import { NEWEST_FIRST } from '../../graphql/keyset.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { agentById } from '../agent/loads.ts'
import { userById } from '../user/loads.ts'
import { visibleKeys } from './access.ts'
import { KeyModeEnum, ScopeEnum } from './enums.ts'
import { keyById } from './loads.ts'
import type { KeyMode } from './secret.ts'

builder.prismaNode('ApiKey', {
  description: 'A key that an agent, or a program that administers the org, calls with. The key itself is shown once.',
  id: { resolve: (key) => key.id },
  nullable: true,
  findUnique: (id, context) => ({
    orgId_id: { orgId: callerOf(context).orgId, id },
    AND: [visibleKeys(context.caller)],
  }),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'No other live key of its agent has it, or no other live admin key.' }),
    prefix: t.exposeString('prefix', { description: 'The eight characters behind `mh_live_` or `mh_test_`.' }),
    mode: t.field({
      type: KeyModeEnum,
      description: 'What it is used for.',
      resolve: ({ mode }) => mode as KeyMode,
    }),
    scopes: t.field({
      type: [ScopeEnum],
      description: 'What it is good for; an agent’s mode and projects bound it further.',
      resolve: ({ scopes }) => scopes as KeyScope[],
    }),
    agent: t.field({
      type: 'Agent',
      nullable: true,
      ...perViewer('Whose key it is; null for an admin key.'),
      resolve: ({ agentId }, _args, context) => (agentId === null ? null : agentById(context, agentId)),
    }),
    live: t.boolean({
      description: 'Neither revoked nor rotated. A rotated key still holds until `expiresAt`.',
      resolve: ({ revokedAt, rotatedAt }) => revokedAt === null && rotatedAt === null,
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'From then on it does not hold.',
    }),
    rotatedAt: t.expose('rotatedAt', { type: 'DateTime', nullable: true, description: 'When it got a successor.' }),
    replacedBy: t.field({
      type: 'ApiKey',
      nullable: true,
      ...perViewer('Its successor.'),
      resolve: ({ replacedById }, _args, context) => (replacedById === null ? null : keyById(context, replacedById)),
    }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was ended for ever.' }),
    revokedBy: t.field({
      type: 'User',
      nullable: true,
      description: 'Who ended it; null where a key or the operator did.',
      resolve: ({ revokedById }, _args, context) => (revokedById === null ? null : userById(context, revokedById)),
    }),
    createdBy: t.field({
      type: 'User',
      nullable: true,
      description: 'Who made it; null where a key or the operator did.',
      resolve: ({ createdById }, _args, context) => (createdById === null ? null : userById(context, createdById)),
    }),
    createdByKey: t.field({
      type: 'ApiKey',
      nullable: true,
      ...perViewer('The admin key that made it.'),
      resolve: ({ createdByKeyId }, _args, context) =>
        createdByKeyId === null ? null : keyById(context, createdByKeyId),
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'To the minute or two; null for one that was never used.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
})

const [ApiKeyConnection, ApiKeyEdge] = connectionType('ApiKey', 'ApiKey')
const list = argumentsOf({
  agentId: arg.id('Agent').nullable().describe('Keys of this agent alone.'),
  includeEnded: arg.boolean().optional().describe('Also revoked and rotated ones; false when left out.'),
})

builder.queryField('apiKeys', (t) =>
  t.connection(
    {
      type: 'ApiKey',
      nullable: true,
      description: 'The keys of the org, the newest first, for owners, admins and admin keys.',
      args: list.args,
      authScopes: { needs: 'admin' },
      resolve: pageOf({
        type: 'ApiKey',
        order: NEWEST_FIRST,
        model: prisma.apiKey,
        where: ({ caller }, args) => {
          const { agentId, includeEnded = false } = list.values(args)
          const ofAgent = agentId == null ? {} : { agentId }
          return { AND: [visibleKeys(caller), ofAgent, includeEnded ? {} : { revokedAt: null, rotatedAt: null }] }
        },
      }),
    },
    ApiKeyConnection,
    ApiKeyEdge,
  ),
)

builder.prismaObjectField('AuditEvent', 'apiKey', (t) =>
  t.field({
    type: 'ApiKey',
    nullable: true,
    ...perViewer('The key it was done with; null without one, and where the caller does not see it.'),
    resolve: ({ actorKeyId }, _args, context) => (actorKeyId === null ? null : keyById(context, actorKeyId)),
  }),
)
