import { sql } from '../../db/sql.ts'

/** Who asked whom. Asking anew after taking it back has another key. */
export type Mention = { readonly key: string; readonly from: string; readonly to: string }

/** What these people were asked in a room, for their streams: one statement for all, in an operation without a user. */
export function mentionsOf(roomId: string, userIds: readonly string[]): Promise<Mention[]> {
  return sql<Mention>`
    SELECT from_user_id AS "from", to_user_id AS "to", from_user_id || ' ' || created_at AS key
    FROM rooms.mentions_of(${roomId}, ${userIds}::uuid[])`
}
