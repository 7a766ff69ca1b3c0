import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { ConflictError, ForbiddenError } from '../../graphql/errors.ts'
import { cleanText } from '../../lib/text.ts'
import { newId } from '../../lib/type-id.ts'
import { type Actor, record } from '../../platform/index.ts'
import { type Person, type PersonInput, personFor, takeIn } from '../membership/person.ts'
import { findOrg } from '../session/preauth.ts'
import { identitySettings } from '../settings.ts'
import { orgCreated } from './events.ts'
import { orgNameOf, requireSlug } from './rules.ts'
import type { OrgSummaryRow } from './summary.ts'

/** What answers and webhooks look like; an org keeps the version it was made under. */
const API_VERSION = '2026-01-01'

type NewOrg = { slug: string; name: string; allowAnonymous?: boolean | undefined }

/** A registered person makes an org and owns it, where the operator lets people do so (ID-57). */
export async function createOrg(caller: SessionCaller, input: NewOrg): Promise<{ org: OrgSummaryRow }> {
  if (identitySettings().orgCreate !== 'registered') throw new ForbiddenError('Only the operator creates orgs here.')
  const id = await makeOrg(input, { userId: caller.userId }, (orgId) => ({ ...caller, orgId, standing: 'OWNER' }))
  return { org: { id, slug: input.slug, name: cleanText(input.name), archived: false, standing: 'OWNER' } }
}

/** The operator makes an org; its owner may be somebody new. */
export async function createOrgAsOperator({
  owner,
  ...input
}: NewOrg & { owner: PersonInput }): Promise<{ orgId: string; ownerId: string; isNew: boolean }> {
  const person = await personFor(owner)
  const orgId = await makeOrg(input, person, (id) => ({ kind: 'system', orgId: id }))
  return { orgId, ownerId: person.userId, isNew: person.made !== undefined }
}

async function makeOrg(
  { slug, name, allowAnonymous = false }: NewOrg,
  owner: Person,
  actorIn: (orgId: string) => Actor,
): Promise<string> {
  requireSlug(slug)
  const shown = orgNameOf(name)
  if (await findOrg(slug)) throw new ConflictError('The slug is taken.')

  const orgId = newId()
  await operation('write', { orgId, userId: owner.userId }, async () => {
    await sql`
      INSERT INTO identity.orgs (id, slug, name, api_version, allow_anonymous)
      VALUES (${orgId}, ${slug}, ${shown}, ${API_VERSION}, ${allowAnonymous})`
    await takeIn(orgId, owner, 'owner')
    await record(actorIn(orgId), orgCreated, {
      target: { kind: 'Org', id: orgId },
      payload: { ownerId: owner.userId, allowAnonymous },
    })
  })
  return orgId
}
