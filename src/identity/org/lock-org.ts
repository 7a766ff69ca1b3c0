import { sqlOne } from '../../db/sql.ts'
import { ConflictError } from '../../graphql/errors.ts'
import { forgetKeysAtCommit } from '../api-key/known-keys.ts'

export type OrgStatus = 'active' | 'archived' | 'purging' | 'purged'

export type LockedOrg = {
  slug: string
  name: string
  status: OrgStatus
  timeZone: string
  retentionDays: number
  allowAnonymous: boolean
  settings: Readonly<Record<string, unknown>>
  stopped: boolean
}

/** The caller's org, which nobody else changes until the commit; from then on its keys are read anew here (ID-58). */
export function lockOrg({ orgId }: { orgId: string }): Promise<LockedOrg> {
  forgetKeysAtCommit(orgId)
  return sqlOne<LockedOrg>`
    SELECT slug, name, status, time_zone AS "timeZone", retention_days AS "retentionDays",
      allow_anonymous AS "allowAnonymous", settings, stopped_at IS NOT NULL AS stopped
    FROM identity.orgs WHERE id = ${orgId} FOR NO KEY UPDATE`
}

/** The same of an org that its people still have. One on its way out keeps name and slug, under which its end is recorded. */
export async function lockLivingOrg(caller: { orgId: string }): Promise<LockedOrg> {
  const org = await lockOrg(caller)
  if (org.status !== 'active' && org.status !== 'archived') throw new ConflictError('The org is being purged.')
  return org
}
