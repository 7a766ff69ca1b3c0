import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { become } from '../../graphql/become.ts'
import type { Caller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { memberRoleWasChanged } from '../hooks.ts'
import { standingOfRole } from '../session/standing.ts'
import { asLocked, requireMayChange } from './access.ts'
import { memberRoleChanged, memberUpdated } from './events.ts'
import { type LockedMember, lockMember, requireAnotherOwner } from './lock-member.ts'
import type { Role } from './role.ts'
import { lockHandles, usernameOf } from './username.ts'

type UpdateMember = { userId: string; role?: Role | undefined; username?: string | undefined }
type Member = LockedMember & { userId: string }

/** Gives a member, or somebody who is invited, another role or another username (ID-37, 39, 40). */
export async function updateMembership(
  caller: Caller,
  { userId, ...given }: UpdateMember,
): Promise<{ userId: string }> {
  const username = given.username === undefined ? undefined : usernameOf(given.username)
  if (username !== undefined) await lockHandles(caller.orgId) // before the rows, as invitations do
  const { member, own } = await lockMember(caller, userId)
  if (member.revoked) throw new NotFoundError('userId')
  const { role: from } = member
  const to = given.role ?? from
  requireMayChange(caller, from, to)
  if (from === 'owner' && to !== from && member.joined) await requireAnotherOwner(caller.orgId, userId)
  requireMayChange(asLocked(caller, own), from, to)

  if (username !== undefined && username !== member.username) await rename(caller, userId, username)
  if (to !== from) await setRole(caller, { ...member, userId }, to)
  return { userId }
}

/** The same as a mutation: whoever changes their own role has it for the rest of the document. */
export async function updateMember(caller: Caller, input: UpdateMember, context: Context): Promise<{ userId: string }> {
  const changed = await operation('write', scopeOf(caller, context.requestId), () => updateMembership(caller, input))
  if (caller.kind === 'session' && caller.userId === input.userId && input.role !== undefined) {
    become(context, { ...caller, standing: standingOfRole(input.role) as typeof caller.standing })
  }
  return changed
}

/** Taken by somebody else, the database's own guard says so, of two who want a name at once to the second (MH060). */
async function rename(caller: Caller, userId: string, username: string): Promise<void> {
  await sql`
    UPDATE identity.memberships SET username = ${username} WHERE org_id = ${caller.orgId} AND user_id = ${userId}`
  await record(caller, memberUpdated, { target: { kind: 'User', id: userId }, payload: { fields: ['username'] } })
}

async function setRole(caller: Caller, { userId, role: from, joined }: Member, to: Role): Promise<void> {
  const { orgId } = caller
  await sql`UPDATE identity.memberships SET role = ${to} WHERE org_id = ${orgId} AND user_id = ${userId}`
  await record(caller, memberRoleChanged, { target: { kind: 'User', id: userId }, payload: { from, to } })
  if (joined) await memberRoleWasChanged({ orgId, userId, from, to, by: caller })
}
