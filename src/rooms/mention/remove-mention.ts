import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { noChange, type RoomChange } from '../room/change.ts'
import { lockRoom } from '../room/lock-room.ts'
import { findMembership } from '../space/membership.ts'
import { requireMemberOfOpenStandup } from '../standup/require-open-standup.ts'
import type { MentionInput } from './add-mention.ts'
import { recordMention } from './record-mention.ts'

/** Takes one's own question back. */
export async function removeMention(caller: UserCaller, { roomId, userId }: MentionInput): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireMemberOfOpenStandup(room)
  const removed = await sql`
    DELETE FROM rooms.standup_mentions
    WHERE org_id = ${room.orgId} AND room_id = ${room.id} AND from_user_id = ${caller.userId} AND to_user_id = ${userId}
    RETURNING 1`
  if (removed.length > 0) await recordMention(caller, room)
  else if (!(await findMembership(room.orgId, room.spaceId, userId))) throw new NotFoundError('userId')
  return noChange(room)
}
