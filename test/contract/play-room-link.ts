import { randomBytes } from 'node:crypto'
import { encodeId } from '../../src/graphql/ids.ts'
import { sha256 } from '../../src/lib/sha256.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { TestRoom } from '../support/actor.ts'
import type { World } from '../support/world.ts'
import type { Play } from './stage.ts'

/** A link to a room that holds for a day. */
export async function linkOf(world: World, { orgId, uuid }: TestRoom): Promise<{ id: string; token: string }> {
  const [id, token] = [newId(), randomBytes(32).toString('base64url')]
  await world.sql(
    `INSERT INTO rooms.room_links (org_id, id, room_id, token_hash, expires_at)
     VALUES ($1, $2, $3, $4, now() + interval '1 day')`,
    [orgId, id, uuid, sha256(token)],
  )
  return { id: encodeId('RoomLink', id), token }
}

/** The play's room has a link. */
export async function withLink(world: World, play: Play): Promise<void> {
  play.link = await linkOf(world, play.room)
}
