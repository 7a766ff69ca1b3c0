import { operation } from '../../db/operation.ts'
import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import type { Actor } from '../../platform/index.ts'
import { reachableSessions } from './access.ts'
import { leave } from './end-session.ts'
import { type EndedSession, recordRevoked } from './record-revoked.ts'

/** Ends one session of the caller's own, or for an admin one that is active in the org (ID-18). */
export async function revokeSession(
  caller: Caller,
  { id }: { id: string },
  context: Context,
): Promise<{ sessionId: string }> {
  await operation('write', scopeOf(caller), async () => {
    const session = await prisma.session.findFirst({ where: { AND: [{ id }, reachableSessions(caller)] } })
    if (!session) throw new NotFoundError('id')
    const reason = session.userId === caller.userId ? 'user' : 'admin'
    const ended = await sql<EndedSession>`
      UPDATE identity.sessions SET revoked_at = now(), revoke_reason = ${reason}
      WHERE id = ${id} AND revoked_at IS NULL
      RETURNING id, user_id`
    await recordRevoked(caller, ended, reason)
  })
  if (id === caller.sessionId) leave(context, caller)
  return { sessionId: id }
}

/** Ends all sessions of the caller, in every org (ID-18). */
export async function endAllSessions(
  caller: Caller,
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
  if (!exceptCurrent) leave(context, caller)
  return { ended }
}

/** Ends a person's sessions that are active in the org; part of an operation that takes their standing. */
export async function revokeSessionsIn(actor: Actor, userId: string): Promise<void> {
  const ended = await sql<EndedSession>`
    UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'role'
    WHERE org_id = ${actor.orgId} AND user_id = ${userId} AND revoked_at IS NULL
    RETURNING id, user_id`
  await recordRevoked(actor, ended, 'role')
}
