import { sql } from '../../db/sql.ts'
import { batchLoad } from '../../graphql/loads.ts'
import { isTimeZone } from '../../lib/time-zone.ts'
import { instantFrom } from '../schedule/clock.ts'
import { localDate } from '../schedule/slots.ts'

type OpenSlot = { roomId: string; spaceId: string; date: string; timezone: string; now: string }

/** Who is away on the day of a scheduled standup that is open, while that day is today where the team is (ROOM-131). */
export const awayFromRoom = batchLoad(async (ids: readonly string[]) => {
  const open = await sql<OpenSlot>`
    SELECT r.id AS "roomId", r.space_id AS "spaceId", slot.slot_date::text AS date, schedule.timezone,
      rooms.clock()::text AS now
    FROM rooms.standup_schedule_slots AS slot
    JOIN rooms.rooms AS r ON r.org_id = slot.org_id AND r.id = slot.room_id AND r.ended_at IS NULL
    JOIN rooms.standup_schedules AS schedule ON schedule.org_id = slot.org_id AND schedule.id = slot.schedule_id
    WHERE slot.room_id = ANY (${ids}::uuid[])`
  // A zone may be of a release that knew more of them.
  const today = open.filter(
    ({ date, timezone, now }) => isTimeZone(timezone) && localDate(timezone, instantFrom(now)).toString() === date,
  )
  const away = await sql<{ roomId: string; userId: string }>`
    SELECT asked.room_id AS "roomId", away.user_id AS "userId"
    FROM unnest(${today.map(({ roomId }) => roomId)}::uuid[], ${today.map(({ spaceId }) => spaceId)}::uuid[],
      ${today.map(({ date }) => date)}::date[]) AS asked (room_id, space_id, day)
    CROSS JOIN LATERAL rooms.away_on(asked.space_id, asked.day) AS away
    ORDER BY away.user_id`
  const byRoom = Map.groupBy(away, ({ roomId }) => roomId)
  return new Map(today.map(({ roomId }) => [roomId, (byRoom.get(roomId) ?? []).map(({ userId }) => userId)]))
})
