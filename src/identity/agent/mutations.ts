import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { visibleAgents } from './access.ts'
import { createAgent } from './create-agent.ts'
import { AgentModeEnum, IntentModeEnum, ProjectScopeEnum } from './enums.ts'
import { addIntentKey, removeIntentKey } from './intent-keys.ts'
import { LABELS_MAX } from './labels.ts'
import { PROJECTS_MAX } from './projects.ts'
import { setAgentProjects } from './set-agent-projects.ts'
import { resumeAgent, stopAgent, suspendAgent } from './set-agent-status.ts'
import { updateAgent } from './update-agent.ts'

/** The agent as the mutation left it. */
const agentField = <R extends { agentId: string }>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, R>) =>
  t.prismaField({
    type: 'Agent',
    nullable: true,
    description: 'As it is now.',
    resolve: (query, { agentId }, _args, context) =>
      prisma.agent.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id: agentId }, ...visibleAgents(context.caller) },
      }),
  })

const agent = <R extends { agentId: string }>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, R>) => ({
  agent: agentField(t),
})

const id = arg.id('Agent')
const reason = arg.text({ max: 280 }).optional().describe('For the record; at most 280 characters.')
const projectIds = arg
  .list(arg.id('Project'), PROJECTS_MAX)
  .optional()
  .describe(`What scope LISTED stands for, at most ${PROJECTS_MAX}; none when left out.`)
const labels = arg
  .list(
    arg.object('AgentLabelInput', { name: arg.text({ max: 64 }), value: arg.text({ max: 256 }) }, 'One label.'),
    LABELS_MAX,
  )
  .optional()
  .describe(`All of them, at most ${LABELS_MAX}.`)

mutation('agentCreate', {
  description: 'Makes an agent. For owners, admins and admin keys, as everything about agents.',
  input: {
    name: arg
      .exact(32)
      .describe('2 to 32 of a-z, 0-9 and hyphens; nobody’s username; it never changes. Some are reserved.'),
    mode: arg.enum(AgentModeEnum).optional().describe('READ when left out.'),
    projectScope: arg.enum(ProjectScopeEnum).optional().describe('LISTED when left out.'),
    projectIds,
    labels,
  },
  errors: [LimitReachedError],
  needs: 'admin',
  run: createAgent,
  payload: agent,
})

mutation('agentUpdate', {
  description: 'Changes what an agent may do, from its next call on. A field left out stays as it is.',
  input: {
    id,
    mode: arg.enum(AgentModeEnum).optional().describe('Whether it only reads.'),
    canEditGlobalWiki: arg.boolean().optional().describe('May edit wiki pages of no project, in mode WRITE.'),
    rateLimitPerMinute: arg.int(1, 100_000).nullable().describe('1 to 100000; null for the server’s default.'),
    labels,
    intentMode: arg.enum(IntentModeEnum).optional().describe('Whether its actions come with a signed intent.'),
    budgets: arg.json().nullable().describe('A list, at most 10; null for none.'),
  },
  needs: 'admin',
  run: updateAgent,
  payload: agent,
})

mutation('agentSuspend', {
  description: 'Refuses an agent’s calls for now. Its keys stay.',
  input: { id, reason },
  needs: 'admin',
  run: suspendAgent,
  payload: agent,
})

mutation('agentStop', {
  description: 'Refuses an agent’s calls until an owner or admin resumes it in person.',
  input: { id, reason },
  needs: 'admin',
  run: stopAgent,
  payload: agent,
})

mutation('agentResume', {
  description: 'Lets an agent act again. An admin key resumes what was suspended, not what was stopped.',
  input: { id, reason },
  needs: 'admin',
  run: resumeAgent,
  payload: agent,
})

mutation('agentSetProjects', {
  description: 'Replaces which projects an agent reaches. LISTED with an empty list is no project at all.',
  input: { id, scope: arg.enum(ProjectScopeEnum).describe('Which projects from now on.'), projectIds },
  needs: 'admin',
  run: setAgentProjects,
  payload: agent,
})

mutation('agentAddIntentKey', {
  description:
    'Adds a public key that the agent’s intents may be signed with; two at most, so that one can be replaced.',
  input: { id, publicKey: arg.exact(64).describe('`ed25519:` and the 32 bytes in base64url without padding.') },
  errors: [LimitReachedError],
  needs: 'admin',
  run: addIntentKey,
  payload: (t) => ({
    agent: agentField(t),
    kid: t.exposeString('kid', { description: 'How intents name the key.' }),
  }),
})

mutation('agentRemoveIntentKey', {
  description: 'Takes a public key away: what it signed is refused from now on.',
  input: { id, kid: arg.exact(32).describe('Of the key.') },
  needs: 'admin',
  run: removeIntentKey,
  payload: agent,
})
