import { newId } from '../../src/lib/type-id.ts'
import type { Actor, HeldKey } from '../support/actor.ts'
import type { World } from '../support/world.ts'
import type { Planted } from './planted.ts'

/** A key as it is listed. */
export async function plantKey(world: World, planted: Planted, realm: string, { keyId }: HeldKey): Promise<void> {
  planted.id(realm, 'ApiKey', keyId)
  await world.sql('UPDATE identity.api_keys SET name = $2 WHERE id = $1', [keyId, planted.mark(realm, 'ApiKey.name')])
}

/** An agent that calls: its key, and what it called with it, which is for admins alone. */
export async function plantCalls(world: World, planted: Planted, name: string, agent: Actor & HeldKey): Promise<void> {
  await plantKey(world, planted, `key:${name}`, agent)
  const call = newId()
  const realm = `tools:${name}`
  planted.id(realm, 'ToolInvocation', call)
  await world.sql(
    `INSERT INTO platform.tool_invocations (org_id, id, agent_id, api_key_id, tool_name, arguments, result_status,
       error_message, duration_ms)
     VALUES ($1, $2, $3, $4, $5, jsonb_build_object('asked', $6::text), 'error.NOT_FOUND', $7, 1)`,
    [
      agent.orgId,
      call,
      agent.userId,
      agent.keyId,
      ...['toolName', 'arguments', 'errorMessage'].map((column) => planted.mark(realm, `ToolInvocation.${column}`)),
    ],
  )
}

/** What others know of the agent that calls, and what it and admins know of its bounds. */
export async function plantSelf(world: World, planted: Planted, name: string, { userId }: Actor): Promise<void> {
  planted.id(`agent:${name}`, 'Agent', userId)
  await world.sql(
    `UPDATE identity.agents SET name = $2, labels = jsonb_build_object('team', $3::text), status_reason = $4,
       budgets = jsonb_build_array($5::text) WHERE id = $1`,
    [
      userId,
      planted.mark(`agent:${name}`, 'Agent.name'),
      planted.mark(`agent:${name}`, 'AgentLabel.value'),
      planted.mark(`bounds:${name}`, 'Agent.statusReason'),
      planted.mark(`bounds:${name}`, 'Agent.budgets'),
    ],
  )
}
