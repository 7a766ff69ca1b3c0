import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { AGENT_MODES, AGENT_STATUSES, PROJECT_SCOPES } from './agent.ts'

const change = { durable: true, deliverable: true } as const
const from = z.enum(AGENT_STATUSES)
const projects = z.array(nodeId('Project'))

export const agentCreated = defineEvent('agent.created', {
  ...change,
  category: 'activity',
  description: 'An agent came to be.',
  payload: z.strictObject({ mode: z.enum(AGENT_MODES), projectScope: z.enum(PROJECT_SCOPES), projectIds: projects }),
})

export const agentUpdated = defineEvent('agent.updated', {
  ...change,
  category: 'audit_only',
  description: 'What an agent may do was changed; the names of the fields.',
  payload: z.strictObject({
    fields: z.array(z.enum(['mode', 'canEditGlobalWiki', 'rateLimitPerMinute', 'labels', 'intentMode', 'budgets'])),
  }),
})

export const agentSuspended = defineEvent('agent.suspended', {
  ...change,
  category: 'audit_only',
  description: 'An agent’s calls are refused for now.',
  payload: z.strictObject({ from }),
})

export const agentStopped = defineEvent('agent.stopped', {
  ...change,
  category: 'audit_only',
  description: 'An agent’s calls are refused until an owner or admin resumes it in person.',
  payload: z.strictObject({ from }),
})

export const agentResumed = defineEvent('agent.resumed', {
  ...change,
  category: 'audit_only',
  description: 'A suspended or stopped agent may act again.',
  payload: z.strictObject({ from }),
})

export const agentProjectsChanged = defineEvent('agent.projects_changed', {
  ...change,
  category: 'audit_only',
  description: 'An agent reaches other projects than before.',
  payload: z.strictObject({ projectScope: z.enum(PROJECT_SCOPES), added: projects, removed: projects }),
})

export const agentIntentKeyAdded = defineEvent('agent.intent_key_added', {
  ...change,
  category: 'audit_only',
  description: 'A key that an agent’s intents may be signed with.',
  payload: z.strictObject({ kid: z.string() }),
})

export const agentIntentKeyRemoved = defineEvent('agent.intent_key_removed', {
  ...change,
  category: 'audit_only',
  description: 'A key that an agent’s intents may be signed with no longer.',
  payload: z.strictObject({ kid: z.string() }),
})
