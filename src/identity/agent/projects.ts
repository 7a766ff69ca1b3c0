import { sql } from '../../db/sql.ts'
import { invalidInput, NotFoundError } from '../../graphql/errors.ts'
import type { ProjectScope } from './agent.ts'

/** How many projects can be listed for one agent: what its event can name. Who needs more gets all. */
export const PROJECTS_MAX = 200

type Lookup = (orgId: string, ids: readonly string[]) => Promise<ReadonlySet<string>>
/** Which of these are projects of the org; none while no body above keeps projects. */
let lookUp: Lookup = async () => new Set()

export function registerProjectLookup(lookup: Lookup): void {
  lookUp = lookup
}

/** The list as a set, if every id in it names a project of the org (ID-8). A list beside ALL would say nothing. */
export async function readProjectList(
  orgId: string,
  scope: ProjectScope,
  projectIds: readonly string[],
): Promise<string[]> {
  if (scope === 'all' && projectIds.length > 0) throw invalidInput('projectIds', 'must be empty where all are in scope')
  if (projectIds.length === 0) return []
  const known = await lookUp(orgId, projectIds)
  const unknown = projectIds.findIndex((id) => !known.has(id))
  if (unknown >= 0) throw new NotFoundError(`projectIds.${unknown}`)
  return [...new Set(projectIds)]
}

type Listing = { orgId: string; agentId: string; projectIds: readonly string[]; addedBy: string | undefined }

/** Makes the list exactly these, in one statement. Gives what is new in it and what is gone. */
export async function putProjectList({
  orgId,
  agentId,
  projectIds,
  addedBy,
}: Listing): Promise<{ added: string[]; removed: string[] }> {
  const rows = await sql<{ project_id: string; added: boolean }>`
    WITH removed AS (
      DELETE FROM identity.agent_projects
      WHERE org_id = ${orgId} AND agent_id = ${agentId} AND project_id <> ALL (${projectIds}::uuid[])
      RETURNING project_id
    ), added AS (
      INSERT INTO identity.agent_projects (org_id, agent_id, project_id, added_by)
      SELECT ${orgId}, ${agentId}, project, ${addedBy ?? null}::uuid FROM unnest(${projectIds}::uuid[]) AS project
      ON CONFLICT DO NOTHING RETURNING project_id
    )
    SELECT project_id, false AS added FROM removed UNION ALL SELECT project_id, true FROM added
    ORDER BY added, project_id`
  const of = (kind: boolean) => rows.filter(({ added }) => added === kind).map(({ project_id }) => project_id)
  return { added: of(true), removed: of(false) }
}
