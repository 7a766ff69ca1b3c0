import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { awaySaved } from './events.ts'

/** Takes days of the caller's own back; what was frozen with them stays (ROOM-130, 132). */
export async function deleteAwayRange(caller: UserCaller, { id }: { id: string }): Promise<{ rangeId: string }> {
  const { orgId, userId } = caller
  const removed = await sql`
    DELETE FROM rooms.standup_away WHERE org_id = ${orgId} AND id = ${id} AND user_id = ${userId} RETURNING 1`
  if (removed.length === 0) throw new NotFoundError('id')
  await record(caller, awaySaved, { privateUserId: userId, payload: {} })
  return { rangeId: id }
}
