import { Temporal } from '@js-temporal/polyfill'
import { sqlOne } from '../../db/sql.ts'

/** The clock of slots and windows, which is the database's (ROOM-1). */
export async function slotClock(): Promise<Temporal.Instant> {
  const { now } = await sqlOne<{ now: string }>`SELECT rooms.clock()::text AS now`
  return instantFrom(now)
}

/** As PostgreSQL writes it: `2026-03-01 09:30:00.123456+00`. */
export const instantFrom = (text: string): Temporal.Instant => Temporal.Instant.from(text.replace(' ', 'T'))
