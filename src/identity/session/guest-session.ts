import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { invalidInput, NotFoundError } from '../../graphql/errors.ts'
import { cleanText, displayNameFault } from '../../lib/text.ts'
import { newId } from '../../lib/type-id.ts'
import type { Actor } from '../../platform/index.ts'
import { newSession } from './new-session.ts'
import { openSession, type SessionMaking } from './open-session.ts'
import { type EndedSession, recordRevoked } from './record-revoked.ts'

/** A room's link as rooms has looked it up and holds it: still open, not revoked. */
export type GuestLink = { orgId: string; roomId: string; linkId: string; expiresAt: string }

/** How many browsers one guest has signed in at once (ROOM-152). */
const MOST_SESSIONS = 5

/**
 * Makes a guest of the link's room and a session that dies with the link, whatever its use (ID-33). Part of the caller's
 * write operation in the link's org, which names no room yet: a guest makes nobody.
 */
export async function createGuestSession(
  link: GuestLink,
  displayName: string,
  making: SessionMaking,
): Promise<SessionCaller> {
  const name = cleanText(displayName)
  const fault = displayNameFault(name)
  if (fault) throw invalidInput('displayName', fault)
  const guest = guestOf(link, newId())
  await sql`
    INSERT INTO identity.users (id, type, account, home_org_id, display_name, status, link_id, last_login_at)
    VALUES (${guest.userId}, 'human', 'guest', ${link.orgId}, ${name}, 'active', ${link.linkId}, now())`
  await openGuestSession(guest, link, making)
  return guest
}

/** A further session of somebody who came through the link before; the oldest beyond five end. */
export async function addGuestSession(link: GuestLink, userId: string, making: SessionMaking): Promise<SessionCaller> {
  const known = await sql`
    UPDATE identity.users SET last_login_at = now()
    WHERE id = ${userId} AND account = 'guest' AND link_id = ${link.linkId} AND status = 'active' RETURNING id`
  if (known.length === 0) throw new NotFoundError()
  const guest = guestOf(link, userId)
  const ended = await sql<EndedSession>`
    UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'limit'
    WHERE id IN (
      SELECT id FROM identity.sessions
      WHERE org_id = ${link.orgId} AND user_id = ${userId} AND revoked_at IS NULL AND expires_at > clock_timestamp()
      ORDER BY created_at DESC, id DESC
      OFFSET ${MOST_SESSIONS - 1})
      AND revoked_at IS NULL
    RETURNING id, user_id`
  await recordRevoked(guest, ended, 'limit')
  await openGuestSession(guest, link, making)
  return guest
}

/** Ends every session that came through the link, in the operation that revokes it; what its guests left stays (ID-33). */
export async function endLinkSessions(link: Pick<GuestLink, 'orgId' | 'linkId'>, by: Actor): Promise<void> {
  const ended = await sql<EndedSession>`
    UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'link'
    WHERE org_id = ${link.orgId} AND link_id = ${link.linkId} AND revoked_at IS NULL AND expires_at > clock_timestamp()
    RETURNING id, user_id`
  await recordRevoked(by, ended, 'link')
}

const openGuestSession = (guest: SessionCaller, { linkId, expiresAt }: GuestLink, making: SessionMaking) =>
  openSession(guest, { ...making, method: 'guest_link', linkId, until: { at: expiresAt } })

const guestOf = ({ orgId, roomId }: GuestLink, userId: string): SessionCaller =>
  newSession({ orgId, userId, account: 'guest', standing: 'GUEST', roomId })
