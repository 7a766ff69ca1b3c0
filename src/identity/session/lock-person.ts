import { sql } from '../../db/sql.ts'

/**
 * Whether the operation's own person may sign in; notes that they do and holds their row to the commit, so that sign-ins of
 * one person are counted one after the other (ID-19, 29). Who locks several takes the person first, then the membership.
 */
export async function lockPerson(userId: string): Promise<boolean> {
  const rows = await sql`
    UPDATE identity.users SET last_login_at = now() WHERE id = ${userId} AND status = 'active' RETURNING id`
  return rows.length > 0
}

/**
 * The person's role by a live membership in an org that people can be in; null without one. The row is held to the commit:
 * whoever takes the membership comes first, or finds what was made of it.
 */
export async function holdMembership({ orgId, userId }: { orgId: string; userId: string }): Promise<string | null> {
  const [member] = await sql<{ role: string }>`
    SELECT m.role FROM identity.memberships AS m JOIN identity.orgs AS o ON o.id = m.org_id
    WHERE m.org_id = ${orgId} AND m.user_id = ${userId} AND m.joined_at IS NOT NULL AND m.revoked_at IS NULL
      AND o.status IN ('active', 'archived')
    FOR NO KEY UPDATE OF m`
  return member?.role ?? null
}
