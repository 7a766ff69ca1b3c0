import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import { lockAgent, type ProjectScope } from './agent.ts'
import { agentProjectsChanged } from './events.ts'
import { putProjectList, readProjectList } from './projects.ts'

type Projects = { id: string; scope: ProjectScope; projectIds?: readonly string[] | undefined }

/** Replaces which projects an agent reaches, scope and list together; an empty list is no project (ID-45). */
export async function setAgentProjects(
  caller: Caller,
  { id, scope, projectIds: listed = [] }: Projects,
): Promise<{ agentId: string }> {
  const { orgId } = caller
  const { projectScope } = await lockAgent(caller, id)
  const projectIds = await readProjectList(orgId, scope, listed)

  const { added, removed } = await putProjectList({ orgId, agentId: id, projectIds, addedBy: caller.userId })
  if (scope !== projectScope) {
    await sql`UPDATE identity.agents SET project_scope = ${scope} WHERE org_id = ${orgId} AND id = ${id}`
  } else if (added.length + removed.length === 0) return { agentId: id }
  await record(caller, agentProjectsChanged, {
    target: { kind: 'Agent', id },
    payload: { projectScope: scope, added, removed },
  })
  return { agentId: id }
}
