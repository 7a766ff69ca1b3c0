import { encodeId } from '../../src/graphql/ids.ts'
import { registerProjectLookup } from '../../src/identity/index.ts'
import { newId } from '../../src/lib/type-id.ts'

const projects = new Map<string, string>()

/** The id of a project of the org, for as long as no body keeps projects: an agent's list takes it. */
export function knownProject({ orgId }: { orgId: string }): { id: string; uuid: string } {
  const uuid = newId()
  projects.set(uuid, orgId)
  registerProjectLookup(async (org, ids) => new Set(ids.filter((id) => projects.get(id) === org)))
  return { id: encodeId('Project', uuid), uuid }
}
