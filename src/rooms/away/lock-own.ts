import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'

/** Holds the caller's own row to the commit, so that what one person does twice at once comes one after the other. */
export async function lockOwn({ userId }: UserCaller): Promise<void> {
  await sql`SELECT FROM identity.users WHERE id = ${userId} FOR NO KEY UPDATE`
}
