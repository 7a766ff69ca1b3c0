import { identitySettings } from '../settings.ts'
import { findSession } from './preauth.ts'
import type { Held } from './recheck-sessions.ts'
import { callerFrom } from './standing.ts'
import { hashSessionToken } from './token.ts'

/** A credential that holds, with what the transport needs to check the request it came on. */
export type Authenticated = Held & {
  /** SHA-256 of the CSRF secret of a cookie session; null for whatever a header brought. */
  csrfHash: Buffer | null
}

/**
 * The session behind a token, or null when it does not hold: unknown, revoked, ended, of a disabled person or a purged
 * org, all alike (ID-1, 15). The database's clock decides; a fault on the way throws, and is never "nobody".
 */
export async function authenticateSession(token: string): Promise<Authenticated | null> {
  const hash = hashSessionToken(token)
  if (!hash) return null
  const row = await findSession(hash, identitySettings().sessionLife)
  if (!row || row.revoked || row.ended || row.user_status !== 'active') return null
  if (row.org_status !== 'active' && row.org_status !== 'archived') return null

  const caller = { ...callerFrom(row), byCookie: row.csrf_hash !== null }
  return { caller, csrfHash: row.csrf_hash, endsAt: row.ends_at }
}
