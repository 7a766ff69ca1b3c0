import { sql, sqlOne } from '../../db/sql.ts'
import { newId } from '../../lib/type-id.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import type { RoomSlot } from '../schedule/slot-of-room.ts'
import { type StandupFigures, standupFigures } from '../standup/figures.ts'

/**
 * Writes how many could have answered a scheduled standup and how many did, and gives what is written: the first time
 * counts, whatever changes afterwards (ROOM-132). Under the room's lock.
 */
export async function freezeDay(room: LockedRoom, slot: RoomSlot): Promise<StandupFigures> {
  const { orgId, id: roomId, spaceId } = room
  const { eligible, answered } = await standupFigures(room, slot)
  await sql`
    INSERT INTO rooms.standup_trend_days (org_id, id, room_id, space_id, day, eligible, answered)
    VALUES (${orgId}, ${newId()}, ${roomId}, ${spaceId}, ${slot.date}::date, ${eligible}, ${answered})
    ON CONFLICT (org_id, room_id) DO NOTHING`
  return sqlOne<StandupFigures>`
    SELECT eligible, answered FROM rooms.standup_trend_days WHERE org_id = ${orgId} AND room_id = ${roomId}`
}
