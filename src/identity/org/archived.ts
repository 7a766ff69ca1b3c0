import { sqlOne } from '../../db/sql.ts'
import type { Actor } from '../../platform/index.ts'

/** Whether the operation's org takes no writes: it is archived, or on its way to be purged (ID-59). */
async function takesNoWrites(orgId: string): Promise<boolean> {
  const { quiet } = await sqlOne<{ quiet: boolean }>`
    SELECT EXISTS (SELECT FROM identity.orgs WHERE id = ${orgId} AND status <> 'active') AS quiet`
  return quiet
}

/**
 * Who does what follows from a change that an archived org lets through, such as the end of a membership: the bodies above
 * record in the name of whoever caused it, and in an archived org in the system's, which alone may (MH012). The cause has
 * its own fact with the person in it, under the same request.
 */
export async function actorOfConsequences(cause: Actor): Promise<Actor> {
  if (cause.kind === 'system' || !(await takesNoWrites(cause.orgId))) return cause
  return { kind: 'system', orgId: cause.orgId }
}
