import { sql, sqlOne } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import type { AgentMode, ProjectScope } from './agent.ts'
import { agentCreated } from './events.ts'
import { type Label, readLabels } from './labels.ts'
import { requireFreeName } from './name.ts'
import { putProjectList, readProjectList } from './projects.ts'

const AGENTS_MAX = 500

type NewAgent = {
  name: string
  mode?: AgentMode | undefined
  projectScope?: ProjectScope | undefined
  projectIds?: readonly string[] | undefined
  labels?: readonly Label[] | undefined
}

/** Makes an agent of the org: its user and what it may do, for now nothing that nobody named (ID-42). */
export async function createAgent(
  caller: Caller,
  { name, mode = 'read', projectScope = 'listed', projectIds: listed = [], labels = [] }: NewAgent,
): Promise<{ agentId: string }> {
  const { orgId, userId = null } = caller
  const labelled = readLabels(labels)
  await requireFreeName(orgId, name)
  await requireRoom(orgId)
  const projectIds = await readProjectList(orgId, projectScope, listed)

  const id = newId()
  await sql`
    INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
    VALUES (${id}, 'agent', 'agent', ${orgId}, ${name}, 'active')`
  await sql`
    INSERT INTO identity.agents (org_id, id, name, mode, project_scope, labels, created_by)
    VALUES (${orgId}, ${id}, ${name}, ${mode}, ${projectScope}, ${JSON.stringify(labelled)}::jsonb, ${userId})`
  await putProjectList({ orgId, agentId: id, projectIds, addedBy: caller.userId })
  await record(caller, agentCreated, { target: { kind: 'Agent', id }, payload: { mode, projectScope, projectIds } })
  return { agentId: id }
}

/** Whoever makes an agent holds the lock on the org's names by now, so nobody else makes one meanwhile. */
async function requireRoom(orgId: string): Promise<void> {
  const { count } = await sqlOne<{ count: number }>`
    SELECT count(*)::integer AS count FROM identity.agents WHERE org_id = ${orgId} AND kind = 'agent'`
  if (count >= AGENTS_MAX) throw new LimitReachedError(AGENTS_MAX)
}
