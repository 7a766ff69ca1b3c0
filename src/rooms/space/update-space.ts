import { sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import { spaceUpdated } from './events.ts'
import { requireOwner } from './membership.ts'
import { requireFreeSlug, requireSlug } from './slug.ts'

type SpaceText = { slug: string; name: string; passcode: string }
type UpdateSpace = { id: string } & { [K in keyof SpaceText]?: string | undefined }

/** Changes what is given; an old slug stops working at once (ROOM-11). */
export async function updateSpace(caller: UserCaller, { id, ...given }: UpdateSpace): Promise<{ spaceId: string }> {
  const { orgId } = caller
  await requireOwner(caller, id)
  const before = await sqlOne<SpaceText>`
    SELECT slug, name, passcode FROM rooms.spaces WHERE org_id = ${orgId} AND id = ${id} FOR NO KEY UPDATE`
  const fields = (['slug', 'name', 'passcode'] as const).filter(
    (field) => given[field] !== undefined && given[field] !== before[field],
  )
  if (fields.length === 0) return { spaceId: id }

  const { slug, name, passcode } = { ...before, ...given } as SpaceText
  if (fields.includes('slug')) {
    requireSlug(slug)
    await requireFreeSlug(orgId, slug)
  }
  await sqlOne`
    UPDATE rooms.spaces SET slug = ${slug}, name = ${name}, passcode = ${passcode}
    WHERE org_id = ${orgId} AND id = ${id} RETURNING 1`
  await record(caller, spaceUpdated, {
    target: { kind: 'Space', id },
    spaceId: id,
    spaceSlug: slug,
    payload: { fields },
  })
  return { spaceId: id }
}
