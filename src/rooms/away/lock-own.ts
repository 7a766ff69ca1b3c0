import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'

/**
 * Holds the caller's own row to the commit: what one person does twice at once comes one after the other, and whoever is
 * being erased meanwhile adds nothing behind it (ID-65).
 */
export async function lockOwn({ userId }: UserCaller): Promise<void> {
  const own = await sql`SELECT FROM identity.users WHERE id = ${userId} AND status = 'active' FOR NO KEY UPDATE`
  if (own.length === 0) throw new ForbiddenError()
}
