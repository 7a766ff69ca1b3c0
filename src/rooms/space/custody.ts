import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'

// Custody is what admins of the org do to spaces that they need not be in (ID-60 to 62). It opens no room.

type Custody = { slug: string; archived: boolean }

/** Locks a space of the org, seen or not: two who act on it take turns. */
export async function lockSpace(orgId: string, id: string): Promise<Custody> {
  const [space] = await sql<Custody>`
    SELECT slug, archived_at IS NOT NULL AS archived FROM rooms.spaces
    WHERE org_id = ${orgId} AND id = ${id} FOR NO KEY UPDATE`
  if (!space) throw new NotFoundError('id')
  return space
}

/** Holds the caller's membership of the org, so that who is demoted meanwhile decides nothing and owns nothing. */
export async function holdAdmin({ orgId, userId }: SessionCaller): Promise<void> {
  const [admin] = await sql`
    SELECT FROM identity.memberships
    WHERE org_id = ${orgId} AND user_id = ${userId} AND role IN ('owner', 'admin')
      AND joined_at IS NOT NULL AND revoked_at IS NULL FOR SHARE`
  if (!admin) throw new ForbiddenError()
}
