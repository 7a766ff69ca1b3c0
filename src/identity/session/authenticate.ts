import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Account, Caller, Standing } from '../../graphql/caller.ts'
import { hashSessionToken } from './token.ts'

/** How long a sign-in lasts (ID-15), in milliseconds. */
export type SessionLife = { idle: number; max: number }

/** A session that holds, with what the transport needs to check the request it came on. */
export type Authenticated = {
  caller: Caller
  /** SHA-256 of the CSRF secret of a cookie session; null for a bearer token. */
  csrfHash: Buffer | null
  /** When the credential ends if it is not used again: idle, absolute or fixed, whichever is first. */
  endsAt: Date
  /** Whether `last_seen_at` is old enough to be moved (ID-16). */
  seenIsStale: boolean
}

type Row = {
  session_id: string
  org_id: string
  user_id: string
  account: Account
  user_status: string
  embedded: boolean
  room_id: string | null
  csrf_hash: Buffer | null
  revoked: boolean
  ends_at: Date
  ended: boolean
  seen_is_stale: boolean
  role: string | null
  org_status: string
}

/**
 * The session behind a token, or null when it does not hold: unknown, revoked, ended, of a disabled person or a purged
 * org, all alike (ID-1, 15). The database's clock decides; a fault on the way throws, and is never "nobody".
 */
export async function authenticate(token: string, life: SessionLife): Promise<Authenticated | null> {
  const hash = hashSessionToken(token)
  if (!hash) return null
  const [row] = await operation('preauth', {}, () => find(hash, life))
  if (!row || row.revoked || row.ended || row.user_status !== 'active') return null
  if (row.org_status !== 'active' && row.org_status !== 'archived') return null

  return { caller: callerOf(row), csrfHash: row.csrf_hash, endsAt: row.ends_at, seenIsStale: row.seen_is_stale }
}

function find(hash: Buffer, { idle, max }: SessionLife): Promise<Row[]> {
  return sql<Row>`
    SELECT s.session_id, s.org_id, s.user_id, s.account, s.user_status, s.embedded, s.room_id, s.csrf_hash, s.role,
      s.org_status, s.revoked_at IS NOT NULL AS revoked, life.ends_at, life.ends_at <= clock_timestamp() AS ended,
      s.last_seen_at < clock_timestamp() - interval '60 s' AS seen_is_stale
    FROM identity.preauth_session(${hash}) AS s, LATERAL (SELECT least(
      s.created_at + ${max}::float8 * interval '1 ms', s.last_seen_at + ${idle}::float8 * interval '1 ms', s.expires_at
    ) AS ends_at) AS life`
}

function callerOf(row: Row): Caller {
  return {
    kind: 'session',
    orgId: row.org_id,
    userId: row.user_id,
    sessionId: row.session_id,
    account: row.account,
    standing: standingOf(row),
    embedded: row.embedded,
    roomId: row.room_id ?? undefined,
  }
}

/** ID-2: an embedded session has participant power only, whoever the person is (ID-4). */
export function standingOf({ account, embedded, role }: Pick<Row, 'account' | 'embedded' | 'role'>): Standing | null {
  if (account === 'guest') return 'GUEST'
  if (account === 'anonymous') return 'PARTICIPANT'
  if (role === null) return null
  return embedded ? 'PARTICIPANT' : (role.toUpperCase() as Standing)
}
