import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { identitySettings } from '../settings.ts'

/** The caller's own sessions that hold, 50 at most (ID-19). An embedded session knows itself alone. */
export async function liveSessionIds(caller: Caller | null): Promise<string[]> {
  if (caller?.kind !== 'session') return []
  if (caller.embedded) return [caller.sessionId]
  const { idle, max } = identitySettings().sessionLife
  const rows = await sql<{ id: string }>`
    SELECT id FROM identity.sessions
    WHERE user_id = ${caller.userId} AND revoked_at IS NULL
      AND identity.session_end(created_at, last_seen_at, expires_at, ${idle}, ${max}) > clock_timestamp()`
  return rows.map(({ id }) => id)
}
