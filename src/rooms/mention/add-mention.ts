import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { invalidInput, NotFoundError } from '../../graphql/errors.ts'
import { noChange, type RoomChange } from '../room/change.ts'
import { holdMembershipsOfRoom } from '../room/hold-membership.ts'
import { lockRoom } from '../room/lock-room.ts'
import { findMembership } from '../space/membership.ts'
import { requireMemberOfOpenStandup } from '../standup/require-open-standup.ts'
import { recordMention } from './record-mention.ts'

export type MentionInput = { roomId: string; userId: string }

/** Asks another member for help with one's blocker (ROOM-107). The room's state does not know: no version (ROOM-108). */
export async function addMention(caller: UserCaller, { roomId, userId }: MentionInput): Promise<RoomChange> {
  const people = [caller.userId, userId]
  const [, room] = await Promise.all([holdMembershipsOfRoom(caller.orgId, roomId, people), lockRoom(caller, roomId)])
  requireMemberOfOpenStandup(room)
  if (userId === caller.userId) throw invalidInput('userId', 'must be somebody else')
  if (!(await findMembership(room.orgId, room.spaceId, userId))) throw new NotFoundError('userId')
  const asked = await sql`
    INSERT INTO rooms.standup_mentions (org_id, room_id, from_user_id, to_user_id)
    VALUES (${room.orgId}, ${room.id}, ${caller.userId}, ${userId}) ON CONFLICT DO NOTHING RETURNING 1`
  if (asked.length > 0) await recordMention(caller, room)
  return noChange(room)
}
