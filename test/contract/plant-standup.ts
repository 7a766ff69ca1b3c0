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
  /** What only that person is to see. */
  author: string,
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
  const [commitment, kudos, thanked] = [newId(), newId(), await world.user('agent', orgId)]
  planted.id(realm, 'Commitment', commitment)
  planted.id(realm, 'Kudos', kudos)
  await world.sql('INSERT INTO rooms.space_members (org_id, space_id, user_id) VALUES ($1, $2, $3)', [
    orgId,
    spaceId,
    thanked,
  ])
  await world.sql(
    `INSERT INTO rooms.standup_commitments (org_id, id, space_id, user_id, text, opened_room_id) VALUES ($1, $2, $3, $4, $5, $6)`,
    [orgId, commitment, spaceId, userId, planted.mark(realm, 'Commitment.text'), room],
  )
  await world.sql(
    `INSERT INTO rooms.kudos (org_id, id, space_id, from_user_id, to_user_id, text, room_id) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [orgId, kudos, spaceId, userId, thanked, planted.mark(realm, 'Kudos.text'), room],
  )
  const schedule = newId()
  planted.id(realm, 'StandupSchedule', schedule)
  await world.sql(
    `INSERT INTO rooms.standup_schedules (org_id, id, space_id, weekdays, open_time, timezone, window_minutes, enabled,
       updated_by, starts_on)
     VALUES ($1, $2, $3, '{1}', '09:00', $4, 60, false, $5, '2026-01-05')`,
    [orgId, schedule, spaceId, planted.mark(realm, 'StandupSchedule.timezone'), userId],
  )
  await world.sql(
    `INSERT INTO rooms.standup_schedule_slots (org_id, schedule_id, slot_date, room_id, outcome, opens_at, closes_at)
     VALUES ($1, $2, '2026-01-05', $3, 'opened', '2026-01-05T09:00:00Z', '2026-01-05T10:00:00Z')`,
    [orgId, schedule, room],
  )
  await world.sql(
    `INSERT INTO rooms.standup_ahead_entries (org_id, schedule_id, day, user_id, yesterday, today, blockers)
     VALUES ($1, $2, '2026-01-12', $3, $4, $5, $6)`,
    [
      ...[orgId, schedule, userId],
      ...['yesterday', 'today', 'blockers'].map((column) => planted.mark(author, `AheadEntry.${column}`)),
    ],
  )
  await world.sql(
    `INSERT INTO rooms.standup_entry_reactions (org_id, room_id, entry_user_id, user_id, emoji) VALUES ($1, $2, $3, $3, '👍')`,
    [orgId, room, userId],
  )
}
