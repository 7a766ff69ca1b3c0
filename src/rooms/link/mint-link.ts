import { sql, sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, LimitReachedError } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { fact } from '../room/change.ts'
import { lockRoom, requireHost, requireOpen } from '../room/lock-room.ts'
import { linkMinted } from './events.ts'
import { newLinkToken } from './secrets.ts'

const LIVE_MAX = 20

export type MintedLink = { linkId: string; token: string }

/** Makes a link to the room, good for 24 h; its token is shown this once (ROOM-150). */
export async function mintLink(caller: UserCaller, { roomId }: { roomId: string }): Promise<MintedLink> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  if (caller.account !== 'registered') throw new ForbiddenError('Only registered hosts make links.')
  requireOpen(room)
  const { live } = await sqlOne<{ live: number }>`
    SELECT count(*)::integer AS live FROM rooms.room_links
    WHERE org_id = ${room.orgId} AND room_id = ${room.id} AND revoked_at IS NULL AND expires_at > clock_timestamp()`
  if (live >= LIVE_MAX) throw new LimitReachedError(LIVE_MAX)

  const linkId = newId()
  const { token, hash } = newLinkToken()
  await sql`
    INSERT INTO rooms.room_links (org_id, id, room_id, created_by, token_hash, expires_at)
    VALUES (${room.orgId}, ${linkId}, ${room.id}, ${caller.userId}, ${hash}, now() + interval '24 hours')`
  await fact(linkMinted, { linkId }, { kind: 'RoomLink', id: linkId })(caller, room)
  return { linkId, token }
}
