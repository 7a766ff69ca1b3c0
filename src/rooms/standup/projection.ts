import { sql } from '../../db/sql.ts'
import { encodeId } from '../../graphql/ids.ts'
import type { Projection, RowsById } from '../../platform/index.ts'
import { inRoom } from '../space/projection.ts'
import type { EntryText } from './entry.ts'

/** So much of entries goes into one delivery (ROOM-183). */
const ENTRIES_BYTES = 256 * 1_024

type Answer = EntryText & { roomId: string; userId: string; displayName: string; guest: boolean }

/** The answered entries of each room, in the order people came by them. Of a room that is gone there are none. */
const answers: RowsById<Answer[]> = async (orgId, roomIds) => {
  const rows = await sql<Answer>`
    SELECT e.room_id AS "roomId", e.user_id AS "userId", u.display_name AS "displayName",
      u.account = 'guest' AS guest, e.yesterday, e.today, e.blockers
    FROM rooms.standup_entries AS e JOIN identity.users AS u ON u.id = e.user_id
    WHERE e.org_id = ${orgId} AND e.room_id = ANY (${roomIds}::uuid[])
      AND btrim(e.yesterday || e.today || e.blockers) <> ''
    ORDER BY e.created_at, e.user_id`
  const ofRooms = Map.groupBy(rows, ({ roomId }) => roomId)
  return new Map(roomIds.map((id) => [id, ofRooms.get(id) ?? []]))
}

/** The event's payload, its space and its room; what people wrote in it is for the space alone (ROOM-183). */
export const withEntries: Projection<object> = async (event, form, rows) => {
  const shown = (await inRoom(event, form, rows)) as { room: object | null }
  if (form !== 'space' || shown.room === null) return shown
  const all = ((await rows.row(answers, event.roomId)) ?? []).map(
    ({ userId, displayName, guest, yesterday, today, blockers }) => ({
      user: { id: encodeId('User', userId), displayName, guest },
      ...{ yesterday, today, blockers },
    }),
  )
  const entries = firstThatFit(all)
  return { ...shown, entries, ...(entries.length < all.length && { entriesTruncated: true }) }
}

function firstThatFit<E extends object>(entries: readonly E[]): E[] {
  let bytes = 1 // the brackets, with one comma too many
  const end = entries.findIndex((entry) => {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1
    return bytes > ENTRIES_BYTES
  })
  return entries.slice(0, end === -1 ? entries.length : end)
}
