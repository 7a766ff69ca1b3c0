import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { forgetKeysAtCommit } from '../api-key/known-keys.ts'

export const AGENT_KINDS = ['agent', 'system'] as const
export const AGENT_STATUSES = ['active', 'suspended', 'stopped'] as const
export const AGENT_MODES = ['read', 'write'] as const
export const PROJECT_SCOPES = ['all', 'listed'] as const

export type AgentStatus = (typeof AGENT_STATUSES)[number]
export type AgentMode = (typeof AGENT_MODES)[number]
export type ProjectScope = (typeof PROJECT_SCOPES)[number]
export type IntentMode = 'off' | 'optional' | 'required'

/** An agent's row as it is under its lock. */
export type LockedAgent = {
  readonly id: string
  readonly kind: (typeof AGENT_KINDS)[number]
  readonly status: AgentStatus
  readonly mode: AgentMode
  readonly projectScope: ProjectScope
  readonly canEditGlobalWiki: boolean
  readonly rateLimitPerMinute: number | null
  readonly labels: Readonly<Record<string, string>>
  readonly budgets: readonly unknown[] | null
  readonly intentMode: IntentMode
  readonly intentKeys: unknown
}

/**
 * The agent that a mutation is about to change: nobody else changes it until the commit, and from then on its keys are read
 * anew here (ID-3). The system's own stays as it is.
 */
export async function lockAgent({ orgId }: Caller, id: string): Promise<LockedAgent> {
  const [agent] = await sql<LockedAgent>`
    SELECT id, kind, status, mode, project_scope AS "projectScope", can_edit_global_wiki AS "canEditGlobalWiki",
      rate_limit_per_minute AS "rateLimitPerMinute", labels, budgets, intent_mode AS "intentMode",
      intent_keys AS "intentKeys"
    FROM identity.agents WHERE org_id = ${orgId} AND id = ${id} FOR NO KEY UPDATE`
  if (!agent) throw new NotFoundError('id')
  forgetKeysAtCommit(orgId)
  if (agent.kind === 'system') throw new ForbiddenError('The system’s own agent stays as it is.')
  return agent
}
