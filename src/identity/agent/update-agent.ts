import { isDeepStrictEqual } from 'node:util'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import { type AgentMode, type IntentMode, lockAgent } from './agent.ts'
import { checkBudgets } from './budgets.ts'
import { agentUpdated } from './events.ts'
import { type Label, readLabels } from './labels.ts'

type AgentUpdate = {
  id: string
  mode?: AgentMode | undefined
  canEditGlobalWiki?: boolean | undefined
  rateLimitPerMinute?: number | null | undefined
  labels?: readonly Label[] | undefined
  intentMode?: IntentMode | undefined
  budgets?: unknown
}

/** Changes what an agent may do, from its next operation on (ID-69). A field left out stays, null clears. */
export async function updateAgent(caller: Caller, { id, ...given }: AgentUpdate): Promise<{ agentId: string }> {
  const { orgId } = caller
  const labels = given.labels && readLabels(given.labels)
  const agent = await lockAgent(caller, id)
  const budgets = given.budgets === undefined ? undefined : await checkBudgets(orgId, given.budgets)

  const now = { ...agent, ...withoutUndefined({ ...given, labels, budgets }) }
  const fields = FIELDS.filter((field) => !isDeepStrictEqual(now[field], agent[field]))
  if (fields.length === 0) return { agentId: id }

  await sql`
    UPDATE identity.agents SET mode = ${now.mode}, can_edit_global_wiki = ${now.canEditGlobalWiki},
      rate_limit_per_minute = ${now.rateLimitPerMinute}, labels = ${JSON.stringify(now.labels)}::jsonb,
      intent_mode = ${now.intentMode}, budgets = ${now.budgets && JSON.stringify(now.budgets)}::jsonb
    WHERE org_id = ${orgId} AND id = ${id}`
  await record(caller, agentUpdated, { target: { kind: 'Agent', id }, payload: { fields } })
  return { agentId: id }
}

const FIELDS = ['mode', 'canEditGlobalWiki', 'rateLimitPerMinute', 'labels', 'intentMode', 'budgets'] as const

function withoutUndefined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never
}
