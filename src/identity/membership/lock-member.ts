import { sql, sqlOne } from '../../db/sql.ts'
import { LastOwnerError, NotFoundError } from '../../graphql/errors.ts'
import type { Role } from './role.ts'

export type LockedMember = { role: Role; joined: boolean; revoked: boolean }

/** The membership, which nobody else changes until the commit. */
export async function lockMember(orgId: string, userId: string): Promise<LockedMember> {
  const [member] = await sql<LockedMember>`
    SELECT role, joined_at IS NOT NULL AS joined, revoked_at IS NOT NULL AS revoked
    FROM identity.memberships WHERE org_id = ${orgId} AND user_id = ${userId} FOR NO KEY UPDATE`
  if (!member) throw new NotFoundError('userId')
  return member
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
