import { sqlOne } from '../../db/sql.ts'
import { ConflictError, invalidInput } from '../../graphql/errors.ts'
import { isReserved, lockHandles } from '../membership/username.ts'

const FORM = /^[a-z][a-z0-9-]{1,31}$/

/**
 * Refuses a name that no agent may have, or that somebody has already: usernames and names of agents are one namespace
 * (ID-40, 42). Names of one org are given one after the other.
 */
export async function requireFreeName(orgId: string, name: string): Promise<void> {
  if (!FORM.test(name)) throw invalidInput('name', 'must be 2 to 32 of a-z, 0-9 and hyphens and begin with a letter')
  if (isReserved(name)) throw invalidInput('name', 'is a reserved name')
  await lockHandles(orgId)
  const { taken } = await sqlOne<{ taken: boolean }>`
    SELECT EXISTS (SELECT FROM identity.agents WHERE org_id = ${orgId} AND name = ${name})
      OR EXISTS (SELECT FROM identity.memberships WHERE org_id = ${orgId} AND username = ${name}) AS taken`
  if (taken) throw new ConflictError('The name is taken.')
}
