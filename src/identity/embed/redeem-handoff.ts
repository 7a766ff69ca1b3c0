import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Caller, SessionCaller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { deliver, newCredentials, type SignedIn } from '../session/delivery.ts'
import { holdMembership, lockPerson } from '../session/lock-person.ts'
import { newSession } from '../session/new-session.ts'
import { endSurplusSessions, openSession } from '../session/open-session.ts'
import { findHandoff, type HandoffRow, useHandoff } from '../session/preauth.ts'
import { EmbedPending } from './pending.ts'
import { bytes32, challengeOf } from './secrets.ts'

/** Nothing extends it (ID-32). */
const LIFE = '12 hours'

/**
 * Turns a bound hand-off into one session of whoever bound it, with participant power (ID-32, 4). Of two at once the second
 * waits for the first and finds it used.
 */
export async function redeemHandoff(
  _caller: Caller | null,
  { verifier }: { verifier: string },
  context: Context,
): Promise<SignedIn> {
  const hash = challengeOf(bytes32('verifier', verifier))
  const handoff = await findHandoff(hash)
  if (!handoff) throw new NotFoundError('verifier')
  if (!handoff.user_id || !handoff.org_id) throw new EmbedPending(handoff.expires_at.toISOString())

  const credentials = newCredentials('BEARER', context)
  const somebody = { orgId: handoff.org_id, userId: handoff.user_id, account: 'registered' } as const
  const caller = newSession({ ...somebody, standing: 'PARTICIPANT', embedded: true })
  await operation('write', { orgId: caller.orgId, userId: caller.userId }, async () => {
    const mayCome =
      (await lockPerson(caller.userId)) &&
      (await holdMembership(caller)) !== null &&
      !(await endedSince(handoff, caller))
    if (!mayCome || !(await useHandoff(hash))) throw new NotFoundError('verifier') // used meanwhile, or who bound it may sign in no longer
    await endSurplusSessions(caller)
    await openSession(caller, { method: 'embed', until: { in: LIFE }, credentials, client: context.client })
  })
  return deliver(context, caller, credentials)
}

/**
 * Whether sessions of the person were ended since the hand-off began, all of them or the one that bound it: whoever does
 * that is not left with one that was under way.
 */
async function endedSince({ expires_at: expiresAt }: HandoffRow, { userId }: SessionCaller): Promise<boolean> {
  const ended = await sql`
    SELECT FROM identity.sessions
    WHERE user_id = ${userId} AND revoke_reason IN ('user', 'admin')
      AND revoked_at > ${expiresAt}::timestamptz - interval '5 minutes' LIMIT 1`
  return ended.length > 0
}
