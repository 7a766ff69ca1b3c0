import { sql } from '../../db/sql.ts'
import type { LockedRoom } from '../room/lock-room.ts'

/** The local date that a room was opened for, and the zone of its schedule. */
export type RoomSlot = { readonly date: string; readonly timezone: string }

/** Of a locked room; null where no schedule opened it. */
export async function slotOf({ orgId, id }: Pick<LockedRoom, 'orgId' | 'id'>): Promise<RoomSlot | null> {
  const [slot] = await sql<RoomSlot>`
    SELECT slot.slot_date::text AS date, schedule.timezone
    FROM rooms.standup_schedule_slots AS slot
    JOIN rooms.standup_schedules AS schedule ON schedule.org_id = slot.org_id AND schedule.id = slot.schedule_id
    WHERE slot.org_id = ${orgId} AND slot.room_id = ${id}`
  return slot ?? null
}
