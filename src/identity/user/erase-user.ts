import { operation } from '../../db/operation.ts'
import { sql, sqlOne } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ForbiddenError, invalidInput, LastOwnerError } from '../../graphql/errors.ts'
import { cleanText } from '../../lib/text.ts'
import { type Actor, record } from '../../platform/index.ts'
import type { Unit } from '../../queue/sweeps.ts'
import { userWasErased } from '../hooks.ts'
import { endMembership } from '../membership/end-membership.ts'
import { memberLeft } from '../membership/events.ts'
import { lockMembers } from '../membership/lock-member.ts'
import { actorOfConsequences } from '../org/archived.ts'
import { signOut } from '../session/end-session.ts'
import { userErased } from './events.ts'
import { orgsToTell } from './orgs-to-tell.ts'

const MEMBERSHIPS_A_PASS = 100

/** A person erases themself (ID-65). Whoever it was is nobody from then on. */
export async function eraseViewer(
  caller: SessionCaller,
  { confirm }: { confirm: string },
  context: Context,
): Promise<object> {
  if (caller.embedded) throw new ForbiddenError('Not in an embedded session.')
  const scope = scopeOf(caller, context.requestId)
  await operation('read', scope, async () => {
    const { name } = await sqlOne<{ name: string }>`
      SELECT display_name AS name FROM identity.users WHERE id = ${caller.userId}`
    if (cleanText(confirm) !== cleanText(name)) throw invalidInput('confirm', 'is not your display name')
  })
  await eraseUser(caller.userId, caller)
  signOut(context, caller)
  return {}
}

/**
 * Takes everything that says who a person is, in all orgs at once, and tells each org. The first operation is the one
 * that counts: from its commit on the person cannot be found or sign in. What follows in further orgs is done org by org;
 * of a process killed meanwhile the sweep does the rest. False when there is nobody to erase.
 */
export async function eraseUser(userId: string, by?: Actor): Promise<boolean> {
  const orgs = await operation('sweep', {}, () => orgsToTell(userId))
  const owned = orgs.filter(({ lastOwner }) => lastOwner).map(({ slug }) => slug)
  if (owned.length > 0) throw new LastOwnerError(owned)

  const first: Actor | undefined = by ?? (orgs[0] && { kind: 'system', orgId: orgs[0].orgId })
  if (!first) return false
  const erased = await operation(
    'write',
    first.kind === 'system' ? { orgId: first.orgId } : scopeOf(first),
    async () => {
      const { done } = await sqlOne<{ done: boolean }>`SELECT identity.maint_user_erase(${userId}) AS done`
      if (done) await tellOrg(first, userId)
      return done
    },
  )
  if (!erased) return false
  for (const { orgId } of orgs) if (orgId !== first.orgId) await eraseFrom(orgId, userId)
  return true
}

/** Ends memberships that erased people still have, because a process was killed in the middle. */
export async function finishErasures(unit: Unit): Promise<void> {
  const left = await operation(
    'sweep',
    {},
    () => sql<{ orgId: string; userId: string }>`
      SELECT org_id AS "orgId", user_id AS "userId" FROM identity.claim_erased_memberships(${MEMBERSHIPS_A_PASS})`,
  )
  for (const { orgId, userId } of left) await unit(() => eraseFrom(orgId, userId))
}

const eraseFrom = (orgId: string, userId: string): Promise<void> =>
  operation('write', { orgId }, () => tellOrg({ kind: 'system', orgId }, userId))

/** Ends the membership with its hooks, lets every body remove what is theirs alone, and records it; again, nothing. */
async function tellOrg(by: Actor, userId: string): Promise<void> {
  const { orgId } = by
  const { member } = await lockMembers(by, userId)
  if (member?.revoked) {
    const [told] = await sql`
      SELECT FROM platform.audit_events
      WHERE org_id = ${orgId} AND event_type = ${userErased.name} AND target_id = ${userId} LIMIT 1`
    if (told) return
  } else if (member) {
    await endMembership(await actorOfConsequences(by), { ...member, userId }, memberLeft)
  }
  await userWasErased({ orgId, userId, by })
  await record(by, userErased, { target: { kind: 'User', id: userId }, payload: {} })
}
