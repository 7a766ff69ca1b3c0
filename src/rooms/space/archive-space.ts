import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import { lockSpace } from './custody.ts'
import { spaceArchived, spaceUnarchived } from './events.ts'

/** Takes a space out of the directory, or puts it back; nothing else about it changes (ROOM-13, ID-60). */
async function setArchived(caller: SessionCaller, id: string, archived: boolean): Promise<{ spaceId: string }> {
  const { orgId } = caller
  const space = await lockSpace(orgId, id)
  if (space.archived === archived) return { spaceId: id }
  await sql`
    UPDATE rooms.spaces SET archived_at = CASE WHEN ${archived} THEN now() END WHERE org_id = ${orgId} AND id = ${id}`
  await record(caller, archived ? spaceArchived : spaceUnarchived, {
    target: { kind: 'Space', id },
    spaceId: id,
    spaceSlug: space.slug,
    payload: {},
  })
  return { spaceId: id }
}

export const archiveSpace = (caller: SessionCaller, { id }: { id: string }) => setArchived(caller, id, true)
export const unarchiveSpace = (caller: SessionCaller, { id }: { id: string }) => setArchived(caller, id, false)
