import { sql } from '../../db/sql.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { SIGN_IN_FAILED } from './errors.ts'

/** The person's role in the org, which becomes the one used last; written at most once an hour. Part of a sign-in. */
export async function useMembership(orgId: string, userId: string): Promise<string> {
  const [member] = await sql<{ role: string; stale: boolean }>`
    SELECT role, coalesce(last_used_at < now() - interval '1 hour', true) AS stale FROM identity.memberships
    WHERE org_id = ${orgId} AND user_id = ${userId} AND joined_at IS NOT NULL AND revoked_at IS NULL`
  if (!member) throw requestError('UNAUTHENTICATED', { message: SIGN_IN_FAILED }) // revoked meanwhile
  if (member.stale) {
    await sql`UPDATE identity.memberships SET last_used_at = now() WHERE org_id = ${orgId} AND user_id = ${userId}`
  }
  return member.role
}
