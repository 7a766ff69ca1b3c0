import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import type { TestSpace, World } from '../support/world.ts'
import type { Planted } from './planted.ts'

/** A standup of the space in which somebody said something, and somebody something to it. */
export async function plantStandup(
  world: World,
  planted: Planted,
  realm: string,
  { orgId, uuid: spaceId }: TestSpace,
  { userId }: Actor,
): Promise<void> {
  const [room, comment] = [newId(), newId()]
  planted.id(realm, 'Room', room)
  planted.id(realm, 'StandupEntryComment', comment)
  await world.sql(
    `INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, config)
     VALUES ($1, $2, $3, 'standup', $4, 'gather', '{"async": true, "speakerSeconds": 0}')`,
    [orgId, room, spaceId, planted.mark(realm, 'Room.title')],
  )
  await world.sql(
    `INSERT INTO rooms.standup_entries (org_id, room_id, user_id, yesterday, today, blockers, speak_order)
     VALUES ($1, $2, $3, $4, $5, $6, 1)`,
    [
      ...[orgId, room, userId],
      ...['yesterday', 'today', 'blockers'].map((column) => planted.mark(realm, `StandupEntry.${column}`)),
    ],
  )
  await world.sql(
    `INSERT INTO rooms.standup_entry_comments (org_id, id, room_id, entry_user_id, author_id, text)
     VALUES ($1, $2, $3, $4, $4, $5)`,
    [orgId, comment, room, userId, planted.mark(realm, 'StandupEntryComment.text')],
  )
  await world.sql(
    `INSERT INTO rooms.standup_entry_reactions (org_id, room_id, entry_user_id, user_id, emoji) VALUES ($1, $2, $3, $3, '👍')`,
    [orgId, room, userId],
  )
}
