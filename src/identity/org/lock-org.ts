import { sqlOne } from '../../db/sql.ts'
import { forgetKeysAtCommit } from '../api-key/known-keys.ts'

export const ORG_STATUSES = ['active', 'archived', 'purging', 'purged'] as const
export type OrgStatus = (typeof ORG_STATUSES)[number]

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
