import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import { spaceCreated } from './events.ts'
import { holdStanding } from './hold-standing.ts'
import { requireFreeSlug, requireSlug } from './slug.ts'

type NewSpace = { slug: string; name: string; passcode?: string | undefined }

/** Makes a space, whose first owner is the caller (ROOM-10). */
export async function createSpace(
  caller: UserCaller,
  { slug, name, passcode = '' }: NewSpace,
): Promise<{ spaceId: string }> {
  const { orgId, userId } = caller
  requireSlug(slug)
  await requireFreeSlug(orgId, slug)
  await holdStanding(orgId, userId)

  const spaceId = newId()
  await sql`
    INSERT INTO rooms.spaces (org_id, id, slug, name, passcode, created_by)
    VALUES (${orgId}, ${spaceId}, ${slug}, ${name}, ${passcode}, ${userId})`
  await sql`
    INSERT INTO rooms.space_members (org_id, space_id, user_id, role)
    VALUES (${orgId}, ${spaceId}, ${userId}, 'owner')`
  await record(caller, spaceCreated, {
    target: { kind: 'Space', id: spaceId },
    spaceId,
    spaceSlug: slug,
    payload: { slug },
  })
  return { spaceId }
}
