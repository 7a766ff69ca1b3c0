import { operation } from '../../db/operation.ts'
import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { reachableSessions } from './access.ts'
import { signOut } from './end-session.ts'
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
    await requireNotOwners(caller, session.userId)
    const reason = session.userId === caller.userId ? 'user' : 'admin'
    const ended = await sql<EndedSession>`
      UPDATE identity.sessions SET revoked_at = now(), revoke_reason = ${reason}
      WHERE id = ${id} AND revoked_at IS NULL
      RETURNING id, user_id`
    await recordRevoked(caller, ended, reason)
  })
  if (caller.kind === 'session' && id === caller.sessionId) signOut(context, caller)
  return { sessionId: id }
}

/** An admin key touches no owner: one that leaked would sign out, again and again, whoever comes to revoke it (ID-7). */
async function requireNotOwners(caller: Caller, userId: string): Promise<void> {
  if (caller.kind !== 'admin_key') return
  const owners = await sql`
    SELECT FROM identity.memberships
    WHERE org_id = ${caller.orgId} AND user_id = ${userId} AND role = 'owner'
      AND joined_at IS NOT NULL AND revoked_at IS NULL`
  if (owners.length > 0) throw new ForbiddenError('The sessions of owners are for people to end.')
}
