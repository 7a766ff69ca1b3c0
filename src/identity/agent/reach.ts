import { sqlOne } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import type { ProjectScope } from './agent.ts'

/** The projects that somebody reaches: all of the org, later ones too, or exactly these, which may be none. */
export type Reach = 'all' | readonly string[]

/**
 * How far the caller reaches into projects, as it stands in the current operation (ID-45, 46): people and admin keys pass,
 * an agent is asked for in the database, whatever was known of it when its key was read. Bodies whose rows hang on projects
 * add `withinReach` to every condition; what it leaves out is absent.
 */
export async function agentReach(caller: Caller): Promise<Reach> {
  if (caller.kind !== 'agent') return 'all'
  const { scope, projects } = await sqlOne<{ scope: ProjectScope | null; projects: string[] }>`
    SELECT (SELECT project_scope FROM identity.agents WHERE org_id = ${caller.orgId} AND id = ${caller.userId}) AS scope,
      ARRAY(SELECT project_id FROM identity.agent_projects
            WHERE org_id = ${caller.orgId} AND agent_id = ${caller.userId}) AS projects`
  return scope === 'all' ? 'all' : projects
}

/**
 * The Prisma condition that a row's project is within reach. Rows of no project, such as global pages, are `free`: they
 * are in unless `free` is false.
 */
export function withinReach(reach: Reach, { column = 'projectId', free = true } = {}): Record<string, unknown> {
  if (reach === 'all') return {}
  const listed = { [column]: { in: [...reach] } }
  return free ? { OR: [listed, { [column]: null }] } : listed
}

/** Global pages are read by every agent with `work:read`; people pass here as well, what they may is their role's (ID-46). */
export function mayEditGlobalWiki(caller: Caller): boolean {
  return caller.kind !== 'agent' || (caller.mode === 'write' && caller.canEditGlobalWiki)
}
