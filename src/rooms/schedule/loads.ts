import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import { batchLoad } from '../../graphql/loads.ts'

/** The schedule of each space that has one. */
export const scheduleOfSpace = batchLoad(async (ids: readonly string[]) => {
  const schedules = await prisma.standupSchedule.findMany({ where: { spaceId: { in: [...ids] } } })
  return new Map(schedules.map((schedule) => [schedule.spaceId, schedule]))
})

/** The local date that a room was opened for, where a schedule opened it. */
export const slotDateOfRoom = batchLoad(async (ids: readonly string[]) => {
  const rows = await sql<{ roomId: string; date: string }>`
    SELECT room_id AS "roomId", slot_date::text AS date
    FROM rooms.standup_schedule_slots WHERE room_id = ANY (${ids}::uuid[])`
  return new Map(rows.map(({ roomId, date }) => [roomId, date]))
})
