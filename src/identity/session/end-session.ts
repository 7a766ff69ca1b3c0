import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { become } from '../../graphql/become.ts'
import type { Caller, SessionCaller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { clearSessionCookies } from './cookies.ts'
import { sessionEnded } from './events.ts'

/** Signs the caller out (ID-18). For nobody, and a second time, it does nothing. */
export async function endSession(caller: Caller | null, _input: object, context: Context): Promise<object> {
  if (!caller) return {}
  if (caller.kind !== 'session') throw new ForbiddenError('A key has no session to end.')
  await operation('write', scopeOf(caller), async () => {
    const [ended] = await sql<{ id: string }>`
      UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'logout'
      WHERE id = ${caller.sessionId} AND revoked_at IS NULL
      RETURNING id`
    if (ended) await record(caller, sessionEnded, { target: { kind: 'Session', id: ended.id }, payload: {} })
  })
  signOut(context, caller)
  return {}
}

/** After the commit: what follows in the document runs as nobody, and the browser forgets the session. */
export function signOut(context: Context, caller: SessionCaller): void {
  become(context, null)
  if (caller.byCookie) clearSessionCookies(context.cookies)
}
