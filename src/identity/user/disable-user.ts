import { operation } from '../../db/operation.ts'
import { sqlOne } from '../../db/sql.ts'
import { LastOwnerError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { userDisabled, userEnabled } from './events.ts'
import { orgsToTell } from './orgs-to-tell.ts'

/**
 * The operator shuts a person out everywhere, or lets them in again. Recorded in each of their orgs: in the first one
 * together with the change, in the others right after. False when nothing changed.
 */
export async function setUserDisabled(userId: string, disabled: boolean): Promise<boolean> {
  const orgs = await operation('sweep', {}, () => orgsToTell(userId))
  const owned = orgs.filter(({ lastOwner }) => lastOwner).map(({ slug }) => slug)
  if (disabled && owned.length > 0) throw new LastOwnerError(owned)

  const event = disabled ? userDisabled : userEnabled
  const tell = (orgId: string) =>
    record({ kind: 'system', orgId }, event, { target: { kind: 'User', id: userId }, payload: {} })
  const [first, ...others] = orgs
  if (!first) return false
  const changed = await operation('write', { orgId: first.orgId }, async () => {
    const { done } = await sqlOne<{ done: boolean }>`
      SELECT identity.maint_user_disable(${userId}, ${disabled}) AS done`
    if (done) await tell(first.orgId)
    return done
  })
  if (changed) for (const { orgId } of others) await operation('write', { orgId }, () => tell(orgId))
  return changed
}
