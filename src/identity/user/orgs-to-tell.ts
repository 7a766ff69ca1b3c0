import { sql } from '../../db/sql.ts'

export type OrgOfUser = { orgId: string; slug: string; lastOwner: boolean }

/** The orgs that hear of what happens to a person: of their memberships, ended ones too, or their account's home. */
export const orgsToTell = (userId: string): Promise<OrgOfUser[]> => sql<OrgOfUser>`
  SELECT org_id AS "orgId", org_slug AS slug, last_owner AS "lastOwner" FROM identity.maint_user_orgs(${userId})`
