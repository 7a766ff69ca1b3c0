import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { signOut } from './end-session.ts'
import { type EndedSession, recordRevoked } from './record-revoked.ts'

/** Ends all sessions of the caller, in every org (ID-18). */
export async function endAllSessions(
  caller: SessionCaller,
  { exceptCurrent = false }: { exceptCurrent?: boolean | undefined },
  context: Context,
): Promise<{ ended: number }> {
  if (caller.embedded) throw new ForbiddenError()
  const ended = await operation('write', scopeOf(caller), async () => {
    const sessions = await sql<EndedSession>`
      UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user'
      WHERE user_id = ${caller.userId} AND revoked_at IS NULL
        AND NOT (${exceptCurrent} AND id = ${caller.sessionId})
      RETURNING id, user_id`
    await recordRevoked(caller, sessions, 'user')
    return sessions.length
  })
  if (!exceptCurrent) signOut(context, caller)
  return { ended }
}
