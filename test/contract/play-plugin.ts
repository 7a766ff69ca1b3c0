import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import { RetroPlugin } from '../support/retro-plugin.ts'
import { uuidOf, type World } from '../support/world.ts'
import { absentOf } from './planted.ts'
import type { Play } from './stage.ts'

/** The play's room is one of a plugin's kind, with the same people as the one before. */
export async function withRetro(world: World, play: Play): Promise<void> {
  const { room, host } = play
  await new RetroPlugin().install(room.orgId)
  const uuid = newId()
  await world.sql(
    `WITH made AS (
       INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, config, state, facilitator_id,
         facilitator_seen_at)
       VALUES ($1, $2, $3, 'retro', 'Retro', 'collect', '{"columns": ["Good"]}',
         '{"shared": {"cards": []}, "private": {}}', $4, now())
     )
     INSERT INTO rooms.room_participants (org_id, room_id, user_id, cofacilitator)
     SELECT org_id, $2, user_id, cofacilitator FROM rooms.room_participants WHERE room_id = $5`,
    [room.orgId, uuid, uuidOf(room.spaceId), host.userId, room.uuid],
  )
  play.room = { ...room, id: encodeId('Room', uuid), uuid, round: { storyId: absentOf('Story'), roundVersion: '0' } }
}
