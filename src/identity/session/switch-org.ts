import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { become } from '../../graphql/become.ts'
import type { Caller, SessionCaller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { record } from '../../platform/index.ts'
import { identitySettings } from '../settings.ts'
import { sessionSwitched } from './events.ts'
import { holdMembership } from './lock-person.ts'
import { standingOfRole } from './standing.ts'

/**
 * Makes another org of the caller's the active one (ID-17); works for whoever has lost their standing in the present one
 * (ID-2). Streams of the old org end. Where the caller is already, nothing changes.
 */
export async function switchOrg(caller: Caller, { orgId }: { orgId: string }, context: Context): Promise<object> {
  if (caller.kind !== 'session' || caller.account !== 'registered' || caller.embedded) {
    throw new ForbiddenError('This sign-in stays in its org.')
  }
  const moved = await operation('write', { orgId, userId: caller.userId }, async () => {
    const role = await holdMembership({ orgId, userId: caller.userId })
    if (role === null) throw new NotFoundError('orgId')
    const there: SessionCaller = { ...caller, orgId, standing: standingOfRole(role) }
    if (orgId !== caller.orgId) await move(there)
    return there
  })
  become(context, moved)
  return {}
}

async function move(there: SessionCaller): Promise<void> {
  const { orgId, userId, sessionId } = there
  const { idle, max } = identitySettings().sessionLife
  await sql`UPDATE identity.memberships SET last_used_at = now() WHERE org_id = ${orgId} AND user_id = ${userId}`
  const moved = await sql`
    UPDATE identity.sessions SET org_id = ${orgId}
    WHERE id = ${sessionId} AND revoked_at IS NULL
      AND identity.session_end(created_at, last_seen_at, expires_at, ${idle}, ${max}) > clock_timestamp()
    RETURNING id`
  if (moved.length === 0) throw requestError('UNAUTHENTICATED') // it was ended meanwhile
  await record(there, sessionSwitched, { target: { kind: 'Session', id: sessionId }, payload: {} })
}
