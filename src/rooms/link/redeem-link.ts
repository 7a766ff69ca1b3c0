import { operation } from '../../db/operation.ts'
import { sql, sqlAlone } from '../../db/sql.ts'
import { type Caller, meets, type SessionCaller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { invalidInput, NotFoundError } from '../../graphql/errors.ts'
import {
  addGuestSession,
  type Credentials,
  createGuestSession,
  type Delivery,
  deliver,
  newCredentials,
  requireAddressLimit,
} from '../../identity/index.ts'
import { sha256 } from '../../lib/sha256.ts'
import { displayNameFault } from '../../lib/text.ts'
import { fact } from '../room/change.ts'
import { type LockedRoom, lockRoomAsSystem } from '../room/lock-room.ts'
import { LinkExhaustedError } from './errors.ts'
import { linkRedeemed } from './events.ts'

const GUESTS_MAX = 50
const GUEST_KEY_MIN = 16

type RedeemLink = { token: string; displayName: string; guestKey: string; delivery?: Delivery | undefined }
type FoundLink = { orgId: string; roomId: string; linkId: string }
type OpenLink = { expiresAt: string; redemptions: number }
export type Redeemed = { roomId: string; sessionToken: string | null; csrfToken: string | null }

const preauthSql = sqlAlone('preauth', {})

/**
 * Lets somebody into the room of a link as its guest; the same browser is the same guest again (ROOM-151, 152). Whatever
 * is wrong with the link or its room, the answer is the same (ROOM-153).
 */
export async function redeemLink(
  caller: Caller | null,
  { token, displayName, guestKey, delivery = 'COOKIE' }: RedeemLink,
  context: Context,
): Promise<Redeemed> {
  const credentials = newCredentials(delivery, context)
  const fault = displayNameFault(displayName)
  if (fault) throw invalidInput('displayName', fault)
  if (guestKey.length < GUEST_KEY_MIN) throw invalidInput('guestKey', `must have at least ${GUEST_KEY_MIN} characters`)
  await requireAddressLimit('linkRedemption', context.client.address) // a known token or not

  // What does not open is refused here, whatever it lacks: nobody tells by the time that a link once was (ROOM-153).
  const [link] = await preauthSql<FoundLink>`
    SELECT org_id AS "orgId", room_id AS "roomId", link_id AS "linkId"
    FROM rooms.preauth_room_link(${sha256(token)}) WHERE opens`
  if (!link) throw new NotFoundError('token')
  const isIn = await seesRoom(caller, link)
  const guest = await operation('write', { orgId: link.orgId }, async () => {
    const { room, open } = await lockOpenLink(link)
    return isIn ? null : admit(room, { ...link, ...open }, { displayName, guestKey, credentials, context })
  })
  if (!guest) return { roomId: link.roomId, sessionToken: null, csrfToken: null }
  const { token: sessionToken, csrfToken } = deliver(context, guest, credentials)
  return { roomId: link.roomId, sessionToken, csrfToken }
}

/** Whoever may see the room already needs no guest (ROOM-152). */
async function seesRoom(caller: Caller | null, { orgId, roomId }: FoundLink): Promise<boolean> {
  if (!meets('user', caller) || caller.orgId !== orgId) return false
  return operation('read', scopeOf(caller), async () => {
    const seen = await sql`SELECT FROM rooms.room_viewers(${roomId}::uuid, ${[caller.userId]}::uuid[])`
    return seen.length > 0
  })
}

/** The room before the link, as a revocation locks them: whoever comes second sees what the first did. */
async function lockOpenLink({ orgId, roomId, linkId }: FoundLink): Promise<{ room: LockedRoom; open: OpenLink }> {
  const room = await lockRoomAsSystem(orgId, roomId)
  if (!room || room.endedAt !== null || room.orgIsQuiet) throw new NotFoundError('token')
  const [open] = await sql<OpenLink>`
    SELECT expires_at::text AS "expiresAt", redemptions FROM rooms.room_links
    WHERE org_id = ${orgId} AND id = ${linkId} AND revoked_at IS NULL AND expires_at > clock_timestamp() FOR UPDATE`
  if (!open) throw new NotFoundError('token')
  return { room, open }
}

type Arrival = { displayName: string; guestKey: string; credentials: Credentials; context: Context }

async function admit(
  room: LockedRoom,
  link: FoundLink & OpenLink,
  { displayName, guestKey, credentials, context }: Arrival,
): Promise<SessionCaller> {
  const { orgId, roomId, linkId, expiresAt, redemptions } = link
  const making = { credentials, client: context.client }
  const keyHash = sha256(guestKey)
  const [known] = await sql<{ userId: string; active: boolean }>`
    SELECT g.user_id AS "userId", u.status = 'active' AS active
    FROM rooms.room_guests AS g JOIN identity.users AS u ON u.id = g.user_id
    WHERE g.org_id = ${orgId} AND g.link_id = ${linkId} AND g.guest_key_hash = ${keyHash}`
  if (known && !known.active) throw new NotFoundError('token') // erased, and not let in as somebody else
  if (known) return addGuestSession({ orgId, roomId, linkId, expiresAt }, known.userId, making)
  if (redemptions >= GUESTS_MAX) throw new LinkExhaustedError()

  const guest = await createGuestSession({ orgId, roomId, linkId, expiresAt }, displayName, making)
  await sql`
    INSERT INTO rooms.room_guests (org_id, user_id, room_id, link_id, guest_key_hash, expires_at)
    VALUES (${orgId}, ${guest.userId}, ${roomId}, ${linkId}, ${keyHash}, ${expiresAt}::timestamptz)`
  await sql`UPDATE rooms.room_links SET redemptions = redemptions + 1 WHERE org_id = ${orgId} AND id = ${linkId}`
  await fact(linkRedeemed, { linkId }, { kind: 'RoomLink', id: linkId })(guest, room)
  return guest
}
