import type { Temporal } from '@js-temporal/polyfill'
import { sql } from '../../db/sql.ts'
import { isTimeZone } from '../../lib/time-zone.ts'
import { slotClock } from '../schedule/clock.ts'
import { localDate } from '../schedule/slots.ts'

export type TrendWeek = {
  /** A Monday. */
  startsOn: string
  /** Of those who could have answered, how many did; null for a week that has no such days. */
  answeredPercent: number | null
}

/** Days with fewer who could have answered would tell of people (ROOM-134). */
const ELIGIBLE_MIN = 4

/** The last weeks of a space's scheduled standups, the running one last (ROOM-134). */
export async function readTrend(orgId: string, spaceId: string, weeks: number): Promise<TrendWeek[]> {
  const monday = await mondayOf(orgId, spaceId)
  const first = monday.subtract({ weeks: weeks - 1 })
  const rows = await sql<{ startsOn: string; percent: number }>`
    SELECT (day - (extract(isodow FROM day)::integer - 1))::text AS "startsOn",
      round(100.0 * sum(answered) / sum(eligible), 1)::float8 AS percent
    FROM rooms.standup_trend_days
    WHERE org_id = ${orgId} AND space_id = ${spaceId} AND eligible >= ${ELIGIBLE_MIN}
      AND day >= ${first.toString()}::date AND day < ${monday.add({ weeks: 1 }).toString()}::date
    GROUP BY 1`
  const percents = new Map(rows.map(({ startsOn, percent }) => [startsOn, percent]))
  return Array.from({ length: weeks }, (_, at) => {
    const startsOn = first.add({ weeks: at }).toString()
    return { startsOn, answeredPercent: percents.get(startsOn) ?? null }
  })
}

/** Of the running week, where the team is. */
async function mondayOf(orgId: string, spaceId: string): Promise<Temporal.PlainDate> {
  const [schedule] = await sql<{ timezone: string }>`
    SELECT timezone FROM rooms.standup_schedules WHERE org_id = ${orgId} AND space_id = ${spaceId}`
  const timezone = schedule && isTimeZone(schedule.timezone) ? schedule.timezone : 'UTC'
  const today = localDate(timezone, await slotClock())
  return today.subtract({ days: today.dayOfWeek - 1 })
}
