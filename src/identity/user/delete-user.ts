import { operation } from '../../db/operation.ts'
import { sql, sqlOne } from '../../db/sql.ts'

/** Why a person's row cannot go: in which table and column it is named, and how often. */
export type Blocker = { reason: string; table: string; column: string; rows: string }

/** What stands in the way of deleting a person (ID-67). */
export const blockersOf = (userId: string): Promise<Blocker[]> =>
  operation(
    'sweep',
    {},
    () => sql<Blocker>`
      SELECT reason, in_table AS table, in_column AS column, held::text AS rows
      FROM identity.maint_user_blockers(${userId})`,
  )

/** Deletes a person's row with all that is theirs alone (ID-68). False when something blocks it, or nobody has that id. */
export async function deleteUser(userId: string): Promise<boolean> {
  const { done } = await operation(
    'sweep',
    {},
    () => sqlOne<{ done: boolean }>`SELECT identity.maint_user_delete(${userId}) AS done`,
  )
  return done
}
