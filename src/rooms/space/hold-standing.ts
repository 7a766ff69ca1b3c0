import { sql } from '../../db/sql.ts'

/**
 * Holds somebody's membership of the org until the commit, before they come into a space: a revocation waits and takes the
 * space along, or is waited for and then seen. Nobody keeps a space that would be theirs again if they came back (ROOM-18).
 */
export async function holdStanding(orgId: string, userId: string): Promise<void> {
  await sql`SELECT FROM identity.memberships WHERE org_id = ${orgId} AND user_id = ${userId} FOR SHARE`
}
