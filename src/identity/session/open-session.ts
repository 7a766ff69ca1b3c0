import { isIP } from 'node:net'
import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import type { ClientFacts } from '../../graphql/context.ts'
import { record } from '../../platform/index.ts'
import { identitySettings } from '../settings.ts'
import type { Credentials } from './delivery.ts'
import { type SessionMethod, sessionCreated } from './events.ts'
import { type EndedSession, recordRevoked } from './record-revoked.ts'

const MOST_SESSIONS = 50

/** What is given to whoever makes a session: what is shown once, and where it is shown. */
export type SessionMaking = { credentials: Credentials; client: ClientFacts }
type NewSession = SessionMaking & {
  method: SessionMethod
  /** A fixed end: an instant, or so long from now. */
  until?: { at: string } | { in: string }
  /** The link that a guest came through. */
  linkId?: string
}

/** Writes the session that `caller` names, in a write operation of that person in that org. */
export async function openSession(
  caller: SessionCaller,
  { method, credentials, client, until, linkId }: NewSession,
): Promise<void> {
  const at = until && 'at' in until ? until.at : null
  const after = until && 'in' in until ? until.in : null
  await sql`
    INSERT INTO identity.sessions (id, org_id, user_id, token_hash, csrf_hash, method, embedded, room_id, link_id, ip,
      user_agent, expires_at)
    VALUES (${caller.sessionId}, ${caller.orgId}, ${caller.userId}, ${credentials.tokenHash}, ${credentials.csrfHash},
      ${method}, ${caller.embedded}, ${caller.roomId ?? null}, ${linkId ?? null}, ${ipOf(client.address)},
      ${client.userAgent || null}, coalesce(${at}::timestamptz, now() + ${after}::interval))`
  await record(caller, sessionCreated, { target: { kind: 'Session', id: caller.sessionId }, payload: { method } })
}

/**
 * Leaves room for one more live session of the caller: the least recently seen end (ID-19). The person's row is locked by
 * then, so that sign-ins of one person are counted one after the other.
 */
export async function endSurplusSessions(caller: SessionCaller): Promise<void> {
  const { idle, max } = identitySettings().sessionLife
  const ended = await sql<EndedSession>`
    UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'limit'
    WHERE id IN (
      SELECT id FROM identity.sessions
      WHERE user_id = ${caller.userId} AND revoked_at IS NULL
        AND identity.session_end(created_at, last_seen_at, expires_at, ${idle}, ${max}) > clock_timestamp()
      ORDER BY last_seen_at DESC, id DESC
      OFFSET ${MOST_SESSIONS - 1})
      AND revoked_at IS NULL
    RETURNING id, user_id`
  await recordRevoked(caller, ended, 'limit')
}

/** Null for what is no address, such as a socket file's. */
export function ipOf(address: string): string | null {
  const plain = address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(plain) ? plain : null
}
