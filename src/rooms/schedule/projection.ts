import { sql } from '../../db/sql.ts'
import { instantText } from '../../graphql/scalars.ts'
import type { Projection, RowsById } from '../../platform/index.ts'
import { inRoom } from '../space/projection.ts'

type OpenedSlot = { roomId: string; timezone: string; opensAt: string; closesAt: string }

/** The slot that each room was opened by. */
const slots: RowsById<OpenedSlot> = async (orgId, roomIds) => {
  const rows = await sql<OpenedSlot>`
    SELECT slot.room_id AS "roomId", schedule.timezone, slot.opens_at::text AS "opensAt",
      slot.closes_at::text AS "closesAt"
    FROM rooms.standup_schedule_slots AS slot
    JOIN rooms.standup_schedules AS schedule ON schedule.org_id = slot.org_id AND schedule.id = slot.schedule_id
    WHERE slot.org_id = ${orgId} AND slot.room_id = ANY (${roomIds}::uuid[])`
  return new Map(rows.map((row) => [row.roomId, row]))
}

/** The event's payload, its space and its room, and when the room is open; null once the room is gone (ROOM-183). */
export const withSlot: Projection<object> = async (event, form, rows) => {
  const slot = await rows.row(slots, event.roomId)
  return {
    ...(await inRoom(event, form, rows)),
    timezone: slot?.timezone ?? null,
    opensAt: slot ? instantText(slot.opensAt) : null,
    closesAt: slot ? instantText(slot.closesAt) : null,
  }
}
