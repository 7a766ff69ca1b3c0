import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { scopeOf } from '../../graphql/context.ts'
import { identitySettings } from '../settings.ts'

/**
 * Says that the session was used: on a mutation and on opening a stream, at most once a minute (ID-16), in an operation
 * of its own. Returns when it ends now; null when nothing moved, also for a session that has ended meanwhile, and for a
 * key, which no use prolongs.
 */
export async function touchSession(caller: Caller): Promise<Date | null> {
  if (caller.kind !== 'session') return null
  const { idle, max } = identitySettings().sessionLife
  const [row] = await operation(
    'write',
    scopeOf(caller),
    () => sql<{ ends_at: Date }>`
      UPDATE identity.sessions SET last_seen_at = clock_timestamp()
      WHERE id = ${caller.sessionId} AND revoked_at IS NULL
        AND last_seen_at < clock_timestamp() - interval '60 s'
        AND identity.session_end(created_at, last_seen_at, expires_at, ${idle}, ${max}) > clock_timestamp()
      RETURNING identity.session_end(created_at, last_seen_at, expires_at, ${idle}, ${max}) AS ends_at`,
  )
  return row?.ends_at ?? null
}
