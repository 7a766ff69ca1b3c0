import { sql } from '../../db/sql.ts'

/**
 * Whether the operation's own person may sign in; notes that they do and holds their row to the commit, so that sign-ins of
 * one person are counted one after the other (ID-19, 29).
 */
export async function lockPerson(userId: string): Promise<boolean> {
  const rows = await sql`
    UPDATE identity.users SET last_login_at = now() WHERE id = ${userId} AND status = 'active' RETURNING id`
  return rows.length > 0
}

/** Whether the person has a live membership in an org that people can be in. */
export async function isLiveMember({ orgId, userId }: { orgId: string; userId: string }): Promise<boolean> {
  const rows = await sql`
    SELECT FROM identity.memberships AS m JOIN identity.orgs AS o ON o.id = m.org_id
    WHERE m.org_id = ${orgId} AND m.user_id = ${userId} AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL
      AND o.status IN ('active', 'archived')`
  return rows.length > 0
}
