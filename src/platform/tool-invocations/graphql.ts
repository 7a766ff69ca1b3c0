import { prisma } from '../../db/prisma.ts'
import { argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { meets } from '../../graphql/caller.ts'
import { by } from '../../graphql/columns.ts'
import { connectionType, pageOf } from '../../graphql/connection.ts'
import { filterOf } from '../../graphql/filters.ts'
import { NEWEST_FIRST } from '../../graphql/keyset.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'

builder.prismaNode('ToolInvocation', {
  description: 'One call of a tool by an agent, refused and failed ones too. Kept for a time; its event stays.',
  id: { resolve: (call) => call.id },
  nullable: true,
  findUnique: (id, context) => {
    const caller = callerOf(context)
    return { orgId_id: { orgId: caller.orgId, id }, AND: meets('admin', caller) ? {} : NO_ROWS }
  },
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it had ended.' }),
    agent: t.relation('agent', { nullable: true, description: 'Who called.' }),
    apiKey: t.relation('apiKey', { nullable: true, description: 'The key it called with.' }),
    toolName: t.exposeString('toolName', { description: '`unknown` where there is no tool of the name it called.' }),
    arguments: t.field({
      type: 'JSON',
      description:
        'What it called with, without secrets and cut to 4 KiB; of a call that became an action, `action` alone: its id.',
      resolve: (call) => call.arguments,
    }),
    resultStatus: t.exposeString('resultStatus', { description: '`ok`, or `error.` and a code.' }),
    errorMessage: t.exposeString('errorMessage', {
      nullable: true,
      description: 'What it was told, for people, without secrets and cut.',
    }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    requestId: t.expose('requestId', {
      type: 'UUID',
      nullable: true,
      description: 'Shared with the events of what it did.',
    }),
  }),
})

export const [ToolInvocationConnection, ToolInvocationEdge] = connectionType('ToolInvocation', 'ToolInvocation')
const list = argumentsOf({
  filter: filterOf('ToolInvocationFilter', {
    agent: by.id('Agent', { column: 'agentId' }),
    apiKey: by.id('ApiKey', { column: 'apiKeyId', nullable: true }),
    toolName: by.text({ column: 'toolName' }),
    resultStatus: by.text({ column: 'resultStatus' }),
    requestId: by.uuid({ column: 'requestId', nullable: true }),
    createdAt: by.instant({ column: 'createdAt' }),
  }).nullable(),
})

builder.queryField('toolInvocations', (t) =>
  t.connection(
    {
      type: 'ToolInvocation',
      nullable: true,
      description: 'What agents called, the newest first. For owners, admins and admin keys.',
      args: list.args,
      authScopes: { needs: 'admin' },
      resolve: pageOf({
        type: 'ToolInvocation',
        order: NEWEST_FIRST,
        model: prisma.toolInvocation,
        where: (context, args) => ({ AND: [{ orgId: callerOf(context).orgId }, list.values(args).filter ?? {}] }),
      }),
    },
    ToolInvocationConnection,
    ToolInvocationEdge,
  ),
)
