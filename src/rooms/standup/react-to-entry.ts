import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, invalidInput } from '../../graphql/errors.ts'
import { change, fact } from '../room/change.ts'
import { lockRoom } from '../room/lock-room.ts'
import { requireStandup } from './access.ts'
import { requireAnswered } from './entry-of-room.ts'
import { entryReacted } from './events.ts'
import { emojiOf } from './reactions.ts'
import type { EntryChange } from './save-entry.ts'
import type { StandupRoom } from './standup-room.ts'

type ReactToEntry = { roomId: string; entryUserId: string; emoji: string }

/** Puts the caller's reaction on an answered entry, or takes the same one back, also when the standup is done (ROOM-98). */
export async function reactToEntry(
  caller: UserCaller,
  { roomId, entryUserId, emoji: given }: ReactToEntry,
): Promise<EntryChange> {
  const room = await lockRoom(caller, roomId)
  if (room.me.viewer) throw new ForbiddenError('Viewers of the org only read.')
  requireStandup(room)
  const emoji = emojiOf(given)
  if (!emoji) throw invalidInput('emoji', 'is none of those offered')
  await requireAnswered(room, entryUserId)

  const key = { roomId, entryUserId, emoji }
  const on = !(await takeBack(caller, key))
  if (on) {
    await sql`
      INSERT INTO rooms.standup_entry_reactions (org_id, room_id, entry_user_id, user_id, emoji)
      VALUES (${room.orgId}, ${roomId}, ${entryUserId}, ${caller.userId}, ${emoji})`
  }
  const reactions = await countReactions(room, entryUserId)
  const told = fact(entryReacted, { entryUserId, on })
  const changed = await change(caller, room, [
    { type: 'EntryReactionsChanged', payload: { entryUserId, reactions }, fact: told },
  ])
  return { ...changed, userId: entryUserId }
}

async function takeBack({ orgId, userId }: UserCaller, { roomId, entryUserId, emoji }: ReactToEntry): Promise<boolean> {
  const gone = await sql`
    DELETE FROM rooms.standup_entry_reactions
    WHERE org_id = ${orgId} AND room_id = ${roomId} AND entry_user_id = ${entryUserId} AND user_id = ${userId}
      AND emoji = ${emoji} RETURNING 1`
  return gone.length > 0
}

function countReactions({ orgId, id }: StandupRoom, entryUserId: string): Promise<{ emoji: string; count: number }[]> {
  return sql`
    SELECT emoji, count(*)::integer AS count FROM rooms.standup_entry_reactions
    WHERE org_id = ${orgId} AND room_id = ${id} AND entry_user_id = ${entryUserId}
    GROUP BY emoji ORDER BY min(created_at), emoji`
}
