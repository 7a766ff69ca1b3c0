import { sql } from '../../db/sql.ts'
import { meets, type UserCaller } from '../../graphql/caller.ts'
import { invalidInput } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { holdAdmin, lockSpace } from './custody.ts'
import { spaceDeleted } from './events.ts'
import { lockOwners, requireOwner, requireStillOwner } from './membership.ts'

type DeleteSpace = { id: string; confirmSlug: string }

/** An owner of the space, or an admin of the org, deletes it with everything in it; the record of it stays (ROOM-20). */
export async function deleteSpace(
  caller: UserCaller,
  { id, confirmSlug }: DeleteSpace,
): Promise<{ spaceId: string; slug: string }> {
  const { orgId } = caller
  const isAdmin = meets('adminPerson', caller)
  if (isAdmin) await holdAdmin(caller)
  else await requireOwner(caller, id)
  const owners = await lockOwners(orgId, id)
  if (!isAdmin) requireStillOwner(caller, owners)
  const { slug } = await lockSpace(orgId, id)
  if (confirmSlug !== slug) throw invalidInput('confirmSlug', 'must be the slug of the space')

  await record(caller, spaceDeleted, { target: { kind: 'Space', id }, spaceId: id, spaceSlug: slug, payload: { slug } })
  await sql`DELETE FROM rooms.spaces WHERE org_id = ${orgId} AND id = ${id}`
  return { spaceId: id, slug }
}
