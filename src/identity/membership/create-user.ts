import { operation } from '../../db/operation.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { findOrg } from '../session/preauth.ts'
import { memberJoined } from './events.ts'
import { type PersonInput, personFor, takeIn } from './person.ts'
import type { Role } from './role.ts'

type NewUser = PersonInput & { orgSlug: string; role: Role }

/** The operator makes somebody a member at once, without invitation; a person who is there already keeps name and password. */
export async function createUser({
  orgSlug,
  role,
  ...input
}: NewUser): Promise<{ orgId: string; userId: string; isNew: boolean }> {
  const org = await findOrg(orgSlug)
  if (!org || (org.status !== 'active' && org.status !== 'archived')) throw new NotFoundError('orgSlug')
  const orgId = org.org_id
  const person = await personFor(input)
  const { userId, made } = person
  await operation('write', { orgId, userId }, async () => {
    await takeIn(orgId, person, role)
    await record({ kind: 'system', orgId }, memberJoined, { target: { kind: 'User', id: userId }, payload: { role } })
  })
  return { orgId, userId, isNew: made !== undefined }
}
