import { operation } from '../../db/operation.ts'
import { sqlOne } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ConflictError, invalidInput } from '../../graphql/errors.ts'
import { type Actor, record } from '../../platform/index.ts'
import { signOut } from '../session/end-session.ts'
import { findOrg } from '../session/preauth.ts'
import { orgPurgeRequested } from './events.ts'
import { lockOrg } from './lock-org.ts'

/** An owner ends their org: everything that could still act in it is cut off at once, what it holds goes after (ID-63). */
export async function purgeOrg(
  caller: SessionCaller,
  { confirmSlug }: { confirmSlug: string },
  context: Context,
): Promise<{ slug: string }> {
  await operation('write', scopeOf(caller, context.requestId), () => requestPurge(caller, confirmSlug))
  signOut(context, caller)
  return { slug: confirmSlug }
}

/** The same by the operator; gives the org's id, or null when no org has that slug. */
export async function requestOrgPurge(slug: string): Promise<string | null> {
  const org = await findOrg(slug)
  if (!org) return null
  const orgId = org.org_id
  if (org.status !== 'purging') {
    await operation('write', { orgId }, () => requestPurge({ kind: 'system', orgId }, slug))
  }
  return orgId
}

async function requestPurge(actor: Actor, confirmSlug: string): Promise<void> {
  const { orgId } = actor
  const { slug, status } = await lockOrg(actor)
  if (slug !== confirmSlug) throw invalidInput('confirmSlug', 'is not the slug of this org')
  if (status !== 'archived') throw new ConflictError('Archive the org first.')
  await record(actor, orgPurgeRequested, { target: { kind: 'Org', id: orgId }, payload: {} })
  const { begun } = await sqlOne<{ begun: boolean }>`
    SELECT identity.maint_org_purge_begin(${orgId}, ${slug}) AS begun`
  if (!begun) throw new ConflictError('The org cannot be purged now.')
}
