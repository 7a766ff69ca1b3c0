import { sql, sqlOne } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { LastOwnerError, NotFoundError } from '../../graphql/errors.ts'
import type { Role } from './role.ts'

export type LockedMember = { role: Role; username: string; joined: boolean; revoked: boolean }
type Locked = { member: LockedMember | null; own: LockedMember | null }

/** A membership and the caller's own, in the order in which everybody locks them; nobody else changes them until the commit. */
export async function lockMembers(
  { orgId, userId: callerId }: { orgId: string; userId?: string | undefined },
  userId: string,
): Promise<Locked> {
  const ids = callerId === undefined ? [userId] : [userId, callerId]
  const rows = await sql<LockedMember & { userId: string }>`
    SELECT user_id AS "userId", role, username, joined_at IS NOT NULL AS joined, revoked_at IS NOT NULL AS revoked
    FROM identity.memberships WHERE org_id = ${orgId} AND user_id = ANY (${ids}::uuid[])
    ORDER BY user_id FOR NO KEY UPDATE`
  const of = (id: string | undefined) => rows.find((row) => row.userId === id) ?? null
  return { member: of(userId), own: of(callerId) }
}

/** The same of somebody who has a membership: live, invited or ended. */
export async function lockMember(
  caller: Caller,
  userId: string,
): Promise<{ member: LockedMember; own: LockedMember | null }> {
  const { member, own } = await lockMembers(caller, userId)
  if (!member) throw new NotFoundError('userId')
  return { member, own }
}

/**
 * Refuses to take the last active owner (ID-39). The org's row is locked and the owners are counted after: of two owners
 * who take each other's role the second waits, and counts what the first left.
 */
export async function requireAnotherOwner(orgId: string, userId: string): Promise<void> {
  await sql`SELECT FROM identity.orgs WHERE id = ${orgId} FOR NO KEY UPDATE`
  const { another } = await sqlOne<{ another: boolean }>`
    SELECT EXISTS (
      SELECT FROM identity.memberships AS m JOIN identity.users AS u ON u.id = m.user_id AND u.status = 'active'
      WHERE m.org_id = ${orgId} AND m.user_id <> ${userId} AND m.role = 'owner'
        AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL) AS another`
  if (!another) throw new LastOwnerError()
}
