import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import { uuidOf, type World } from '../support/world.ts'
import { absentOf } from './planted.ts'
import type { Play } from './stage.ts'

/** The play's room is a standup that gathers, with the same people as the one before. */
export async function withStandup(world: World, play: Play): Promise<void> {
  const { room, host } = play
  const uuid = newId()
  await world.sql(
    `WITH made AS (
       INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, config, facilitator_id, facilitator_seen_at)
       VALUES ($1, $2, $3, 'standup', 'Standup', 'gather', '{"async": false, "speakerSeconds": 0}', $4, now())
     ), participants AS (
       INSERT INTO rooms.room_participants (org_id, room_id, user_id, cofacilitator)
       SELECT org_id, $2, user_id, cofacilitator FROM rooms.room_participants WHERE room_id = $5
     )
     INSERT INTO rooms.room_presence (org_id, room_id, connection_id, user_id, last_seen_at)
     SELECT org_id, $2, platform.new_id(), user_id, last_seen_at FROM rooms.room_presence WHERE room_id = $5`,
    [room.orgId, uuid, uuidOf(room.spaceId), host.userId, room.uuid],
  )
  play.room = { ...room, id: encodeId('Room', uuid), uuid, round: { storyId: absentOf('Story'), roundVersion: '0' } }
}

/** The same with an entry of the host and one of the member. */
export async function withEntries(world: World, play: Play): Promise<void> {
  await withStandup(world, play)
  for (const person of [play.host, play.member]) await answered(world, play, person)
}

const answered = (world: World, { room }: Play, { userId }: Actor) =>
  world.sql(
    `INSERT INTO rooms.standup_entries (org_id, room_id, user_id, today) VALUES ($1, $2, $3, 'Work')
     ON CONFLICT DO NOTHING`,
    [room.orgId, room.uuid, userId],
  )

/** The member has the turn, the host and the deputy follow. */
export async function whileSpeaking(world: World, play: Play): Promise<void> {
  await withEntries(world, play)
  await answered(world, play, play.deputy)
  const { room, member, host, deputy } = play
  await world.sql(
    `UPDATE rooms.standup_entries SET speak_order = array_position($2::uuid[], user_id) WHERE room_id = $1`,
    [room.uuid, [member, host, deputy].map(({ userId }) => userId)],
  )
  await world.sql(
    `UPDATE rooms.rooms SET phase = 'speak', current_speaker_id = $2, speaker_started_at = now() WHERE id = $1`,
    [room.uuid, member.userId],
  )
}

/** The member's comment on the host's entry. */
export async function withComment(world: World, play: Play): Promise<void> {
  await withEntries(world, play)
  const { room, host, member } = play
  const id = newId()
  await world.sql(
    `INSERT INTO rooms.standup_entry_comments (org_id, id, room_id, entry_user_id, author_id, text)
     VALUES ($1, $2, $3, $4, $5, 'Good')`,
    [room.orgId, id, room.uuid, host.userId, member.userId],
  )
  play.commentId = encodeId('StandupEntryComment', id)
}
