import { builder } from '../../graphql/builder.ts'
import type { Caller, Standing } from '../../graphql/caller.ts'
import { encodeId } from '../../graphql/ids.ts'
import { findUserOrgs } from '../session/preauth.ts'
import { standingOfRole } from '../session/standing.ts'
import { StandingEnum } from '../session/standing-type.ts'

export type OrgSummaryRow = { id: string; slug: string; name: string; archived: boolean; standing: Standing }

export const OrgSummaryType = builder.objectRef<OrgSummaryRow>('OrgSummary').implement({
  description: 'An org that one is a member of, whether it is the active one or not.',
  fields: (t) => ({
    id: t.id({ description: 'The id of the Org.', resolve: (org) => encodeId('Org', org.id) }),
    slug: t.exposeString('slug', { description: 'Its name in addresses.' }),
    name: t.exposeString('name', { description: 'Its name for people.' }),
    archived: t.exposeBoolean('archived', { description: 'It takes no writes.' }),
    standing: t.expose('standing', { type: StandingEnum, description: 'The caller’s own there.' }),
  }),
})

/** Where a person can go, the org used last first. An embedded session stays where it is. */
export async function orgsOf(caller: Caller | null): Promise<OrgSummaryRow[]> {
  if (!caller || caller.embedded || caller.account !== 'registered') return []
  const rows = await findUserOrgs(caller.userId)
  return rows.map(({ org_id: id, slug, name, status, role }) => ({
    id,
    slug,
    name,
    archived: status === 'archived',
    standing: standingOfRole(role),
  }))
}
