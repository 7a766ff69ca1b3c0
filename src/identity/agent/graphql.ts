import { prisma } from '../../db/prisma.ts'
import type { Agent } from '../../generated/prisma/client.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { by } from '../../graphql/columns.ts'
import { connectionType, pageOf } from '../../graphql/connection.ts'
import type { Context } from '../../graphql/context.ts'
import { InvalidInputError } from '../../graphql/errors.ts'
import { filterOf } from '../../graphql/filters.ts'
import { encodeId } from '../../graphql/ids.ts'
import { NEWEST_FIRST } from '../../graphql/keyset.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { userById } from '../user/loads.ts'
import { seesBounds, visibleAgents } from './access.ts'
import type { AGENT_KINDS, AgentMode, AgentStatus, IntentMode, ProjectScope } from './agent.ts'
import { AgentKindEnum, AgentModeEnum, AgentStatusEnum, IntentModeEnum, ProjectScopeEnum } from './enums.ts'
import { type IntentKey, intentKeysIn, usableIntentKey } from './intent-key.ts'
import { type Label, labelsIn } from './labels.ts'
import { listedProjects } from './loads.ts'

const AgentLabelType = builder.objectRef<Label>('AgentLabel').implement({
  description: 'What admins sort agents by, and policies ask for.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'No label of an agent has the same.' }),
    value: t.exposeString('value', { description: 'Any text.' }),
  }),
})

const IntentKeyType = builder.objectRef<IntentKey>('IntentKey').implement({
  description: 'A public key that an agent’s intents may be signed with.',
  fields: (t) => ({
    kid: t.exposeString('kid', { description: 'How an intent names it: the first 32 hex digits of its SHA-256.' }),
    publicKey: t.string({
      description: '`ed25519:` and the 32 bytes in base64url.',
      resolve: ({ public_key }) => public_key,
    }),
    usable: t.boolean({
      description: 'False for a key that is refused at every use, because it is none that can be trusted.',
      resolve: (key) => usableIntentKey([key], key.kid) !== null,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was added.',
      resolve: ({ created_at }) => created_at,
    }),
    createdBy: t.field({
      type: 'User',
      nullable: true,
      description: 'Who added it; null when an admin key did.',
      resolve: ({ created_by }, _args, context) => userById(context, created_by),
    }),
  }),
})

const forAdmins = (what: string) => ({
  nullable: true as const,
  ...perViewer(`${what} For owners, admins and the agent itself.`),
})
const bounded =
  <T>(read: (agent: Agent) => T) =>
  (agent: Agent, _args: object, { caller }: Context): T | null =>
    seesBounds(caller, agent.id) ? read(agent) : null

builder.prismaNode('Agent', {
  description: 'A user that acts by API keys instead of signing in, within bounds that admins set.',
  id: { resolve: (agent) => agent.id },
  nullable: true,
  findUnique: (id, context) => ({
    orgId_id: { orgId: callerOf(context).orgId, id },
    ...visibleAgents(context.caller),
  }),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Unique among agents and usernames of the org; it never changes.' }),
    user: t.field({
      type: 'User',
      nullable: true,
      description: 'The agent as a user: the author of what it writes. Both ids end alike.',
      resolve: ({ id }, _args, context) => userById(context, id),
    }),
    kind: t.field({
      type: AgentKindEnum,
      description: 'Whose it is.',
      resolve: ({ kind }) => kind as (typeof AGENT_KINDS)[number],
    }),
    status: t.field({
      type: AgentStatusEnum,
      description: 'Whether it may call at all.',
      resolve: ({ status }) => status as AgentStatus,
    }),
    statusReason: t.string({
      ...forAdmins('Why it was suspended, stopped or resumed last, as whoever did it put it.'),
      resolve: bounded(({ statusReason }) => statusReason),
    }),
    statusChangedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Since when its status is what it is; null for one that was active all along.',
      resolve: ({ statusChangedAt }) => statusChangedAt,
    }),
    mode: t.field({
      type: AgentModeEnum,
      description: 'Whether it only reads.',
      resolve: ({ mode }) => mode as AgentMode,
    }),
    projectScope: t.field({
      type: ProjectScopeEnum,
      description: 'Which projects it reaches.',
      resolve: ({ projectScope }) => projectScope as ProjectScope,
    }),
    projectIds: t.field({
      type: ['ID'],
      ...forAdmins('The projects listed for it: what it reaches when its scope is LISTED.'),
      resolve: async ({ id }, _args, context) =>
        seesBounds(context.caller, id)
          ? ((await listedProjects(context, id)) ?? []).map((project) => encodeId('Project', project))
          : null,
    }),
    canEditGlobalWiki: t.exposeBoolean('canEditGlobalWiki', {
      description: 'In mode WRITE it may edit wiki pages that belong to no project.',
    }),
    rateLimitPerMinute: t.int({
      ...forAdmins('Requests a minute; null for the server’s default.'),
      resolve: bounded(({ rateLimitPerMinute }) => rateLimitPerMinute),
    }),
    labels: t.field({
      type: [AgentLabelType],
      description: 'By name.',
      resolve: ({ labels }) => labelsIn(labels),
    }),
    budgets: t.field({
      type: 'JSON',
      ...forAdmins('What it may spend; null for no budgets of its own.'),
      resolve: bounded(({ budgets }) => budgets),
    }),
    intentMode: t.field({
      type: IntentModeEnum,
      description: 'Whether its actions come with a signed intent.',
      resolve: ({ intentMode }) => intentMode as IntentMode,
    }),
    intentKeys: t.field({
      type: [IntentKeyType],
      ...forAdmins('At most two.'),
      resolve: bounded(({ intentKeys }) => intentKeysIn(intentKeys)),
    }),
    createdBy: t.field({
      type: 'User',
      ...forAdmins('Who made it; null when an admin key or the server did.'),
      resolve: ({ id, createdById }, _args, context) =>
        createdById !== null && seesBounds(context.caller, id) ? userById(context, createdById) : null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
})

const one = argumentsOf({
  id: arg.id('Agent').nullable(),
  name: arg.text({ max: 32 }).nullable().describe('Instead of the id.'),
})

builder.queryField('agent', (t) =>
  t.prismaField({
    type: 'Agent',
    nullable: true,
    description: 'One agent of the org, by its id or by its name.',
    args: one.args,
    authScopes: { needs: 'viewer' },
    resolve: (query, _root, args, context) => {
      const { id, name } = one.values(args)
      const { orgId } = callerOf(context)
      if ((id == null) === (name == null)) {
        throw new InvalidInputError([{ path: ['id'], message: 'either id or name must be given' }])
      }
      const key = id == null ? { orgId_name: { orgId, name: name! } } : { orgId_id: { orgId, id } }
      return prisma.agent.findUnique({ ...query, where: key })
    },
  }),
)

export const [AgentConnection, AgentEdge] = connectionType('Agent', 'Agent')
const list = argumentsOf({
  filter: filterOf('AgentFilter', {
    name: by.text({ column: 'name' }),
    kind: by.oneOf(AgentKindEnum, { column: 'kind' }),
    status: by.oneOf(AgentStatusEnum, { column: 'status' }),
    mode: by.oneOf(AgentModeEnum, { column: 'mode' }),
    projectScope: by.oneOf(ProjectScopeEnum, { column: 'projectScope' }),
    createdAt: by.instant({ column: 'createdAt' }),
  }).nullable(),
})

builder.queryField('agents', (t) =>
  t.connection(
    {
      type: 'Agent',
      nullable: true,
      description: 'The org’s agents, stopped ones too, the newest first.',
      args: list.args,
      authScopes: { needs: 'viewer' },
      resolve: pageOf({
        type: 'Agent',
        order: NEWEST_FIRST,
        model: prisma.agent,
        where: (context, args) => ({ AND: [{ orgId: callerOf(context).orgId }, list.values(args).filter ?? {}] }),
      }),
    },
    AgentConnection,
    AgentEdge,
  ),
)
