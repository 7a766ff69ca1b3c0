import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Actor } from '../support/actor.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { metricOf } from '../support/metrics.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { type SlotClock, slotClock } from '../support/slot-clock.ts'
import { createWorld, type TestSpace, uuidOf, type World } from '../support/world.ts'
import { EVERY_DAY, save } from './schedule-team.ts'
import { datesFrom, WallClock } from './wall-clock.ts'

const START = Date.parse('2026-06-01T00:00:00Z')
const HALF = Date.parse('2027-06-01T12:00:00Z') // no zone is between its two times of day
const END = Date.parse('2028-06-01T12:00:00Z')
const STEP = 23 * 3_600_000
const SERVERS = 4

/** Each for a year at a time that the clocks skip, and for a year at one that they show twice, where the zone has them. */
const TIMES: Record<string, readonly [string, string]> = {
  'Asia/Tokyo': ['09:00', '00:00'],
  'America/New_York': ['02:30', '01:30'],
  'Europe/Berlin': ['02:30', '02:00'],
  'Australia/Lord_Howe': ['02:15', '01:45'],
  'America/Phoenix': ['23:30', '23:45'],
}
const ZONES = Object.keys(TIMES)

type Team = { zone: string; owner: Actor; space: TestSpace; scheduleId: string }
type Day = { date: string; outcome: string; opensAt: Date; closesAt: Date; roomId: string | null; title: string | null }

let database: TestDatabase
let world: World
let clock: SlotClock
let teams: Team[]
const servers: ServerProcess[] = []

beforeAll(async () => {
  database = await createDatabase()
  for (let at = 0; at < SERVERS; at++) servers.push(await startProcess(database))
  world = await createWorld(servers[0]!)
  clock = await slotClock(world, new Date(START).toISOString())
  const elsewhere = await world.otherOrg()
  teams = await Promise.all(
    ZONES.map(async (zone, at) => {
      const owner = at % 2 === 0 ? await world.member({ space: null }) : elsewhere
      const space = await world.space({ owner })
      return { zone, owner, space, scheduleId: await saved(owner, space, zone, 0) }
    }),
  )
})
afterAll(async () => {
  await world?.close()
  await Promise.all(servers.map((server) => server.close()))
  await database?.drop()
})

async function saved(owner: Actor, space: TestSpace, timezone: string, year: 0 | 1): Promise<string> {
  const settings = { weekdays: EVERY_DAY, openTime: TIMES[timezone]![year], timezone, windowMinutes: 1440 }
  const { schedule, ...refused } = await save(owner, space, settings)
  if (!schedule) throw new Error(JSON.stringify(refused))
  return uuidOf(schedule.id)
}

/** Moves the clock there, a step at a time, as soon as nothing is due any more; now and then to the very next instant. */
async function runUntil(start: number, end: number): Promise<void> {
  for (let now = start, steps = 1; now < end; steps++) {
    now = Math.min(steps % 9 === 0 ? await nextDue() : now + STEP, end)
    await clock.set(new Date(now).toISOString())
    // A lease that ended under its holder: another server comes to the same slot.
    if (steps % 5 === 0) {
      await world.sql('UPDATE rooms.standup_schedules SET locked_until = now() WHERE locked_until > now()')
      await world.sql(`SELECT platform.notify_jobs('standup_opening')`)
    }
    await untilNothingIsDue()
  }
}

async function nextDue(): Promise<number> {
  const [row] = await world.sql<{ at: Date }>('SELECT min(next_open_at) AS at FROM rooms.standup_schedules')
  return row!.at.getTime()
}

const untilNothingIsDue = () =>
  vi.waitUntil(
    async () => {
      const due = await world.sql('SELECT 1 FROM rooms.standup_schedules WHERE next_open_at <= rooms.clock()')
      return due.length === 0
    },
    { timeout: 30_000, interval: 5 },
  )

const daysOf = ({ scheduleId }: Team): Promise<Day[]> =>
  world.sql<Day>(
    `SELECT s.slot_date::text AS date, s.outcome, s.opens_at AS "opensAt", s.closes_at AS "closesAt",
       s.room_id AS "roomId", r.title
     FROM rooms.standup_schedule_slots AS s LEFT JOIN rooms.rooms AS r ON r.id = s.room_id
     WHERE s.schedule_id = $1 ORDER BY s.slot_date`,
    [scheduleId],
  )

/** By the rules as they are written: each local date of the two years with the instant of its opening. */
function expectedDays(zone: string): { date: string; opensAt: string }[] {
  const wall = new WallClock(zone)
  return datesFrom('2026-05-31', 735)
    .flatMap((date) => TIMES[zone]!.map((time, year) => ({ date, at: wall.opening(date, time), year })))
    .filter(({ at, year }) => (year === 0 ? at > START && at <= HALF : at > HALF && at <= END))
    .map(({ date, at }) => ({ date, opensAt: new Date(at).toISOString() }))
}

it('ROOM-122, ROOM-124 four servers open one room a local date over two years in five zones, none missed or doubled', async () => {
  await runUntil(START, HALF)
  for (const { owner, space, zone } of teams) await saved(owner, space, zone, 1)
  await runUntil(HALF, END)

  for (const team of teams) {
    const days = await daysOf(team)
    const expected = expectedDays(team.zone)
    expect(
      days.map(({ date, opensAt }) => ({ date, opensAt: opensAt.toISOString() })),
      team.zone,
    ).toEqual(expected)
    // The oracle itself: two years have 731 days here, and none is left out.
    expect(days.map(({ date }) => date)).toEqual(datesFrom(days[0]!.date, days.length))
    expect([731, 732]).toContain(days.length)

    for (const { date, outcome, title, opensAt, closesAt } of days) {
      expect([outcome, title, closesAt.getTime() - opensAt.getTime()], date).toEqual([
        'opened',
        `Standup ${date}`,
        1440 * 60_000,
      ])
    }
    const rooms = await world.sql<{ id: string }>('SELECT id FROM rooms.rooms WHERE space_id = $1', [team.space.uuid])
    expect(new Set(rooms.map(({ id }) => id))).toEqual(new Set(days.map(({ roomId }) => roomId)))
    expect(rooms).toHaveLength(days.length)
    expect(await closings(team)).toEqual(days.map((_, at) => (at < days.length - 1 ? 'done 1 1' : 'gather 1 0')))
  }

  const claims = await Promise.all(
    servers.map(({ url }) => metricOf(url, 'moothall_queue_claims_total{kind="standup_opening"}')),
  )
  for (const claimed of claims) expect(claimed).toBeGreaterThan(0)
  expect(servers.map((server) => server.log()).join('')).not.toContain('queued work failed')
}, 600_000)

/** Of each room in the order of days: its phase, and how often it was told to have opened and closed. */
async function closings({ scheduleId }: Team): Promise<string[]> {
  const rows = await world.sql<{ state: string }>(
    `SELECT concat_ws(' ', r.phase, count(e.id) FILTER (WHERE e.event_type = 'standup.opened'),
       count(e.id) FILTER (WHERE e.event_type = 'standup.closed')) AS state
     FROM rooms.standup_schedule_slots AS s
     JOIN rooms.rooms AS r ON r.id = s.room_id
     LEFT JOIN platform.audit_events AS e ON e.org_id = s.org_id AND e.room_id = r.id
     WHERE s.schedule_id = $1 GROUP BY s.slot_date, r.phase ORDER BY s.slot_date`,
    [scheduleId],
  )
  return rows.map(({ state }) => state)
}

it('ROOM-122 opens later by what the clocks skip, and at the first of two', async () => {
  const at = async (zone: string, date: string) => {
    const [slot] = await world.sql<{ opensAt: Date }>(
      `SELECT s.opens_at AS "opensAt" FROM rooms.standup_schedule_slots AS s
       JOIN rooms.standup_schedules AS t ON t.id = s.schedule_id WHERE t.timezone = $1 AND s.slot_date = $2::date`,
      [zone, date],
    )
    return slot!.opensAt.toISOString().slice(0, 16)
  }
  // 02:30 is 03:30, an hour after 01:30 of winter.
  expect(await at('Europe/Berlin', '2027-03-28')).toBe('2027-03-28T01:30')
  expect(await at('America/New_York', '2027-03-14')).toBe('2027-03-14T07:30')
  // 02:15 is 02:45 at +11, half an hour on.
  expect(await at('Australia/Lord_Howe', '2026-10-04')).toBe('2026-10-03T15:45')
  // Of two, the one of summer.
  expect(await at('Europe/Berlin', '2026-10-25')).toBe('2026-10-25T00:30')
  expect(await at('America/New_York', '2027-11-07')).toBe('2027-11-07T05:30')
  expect(await at('Australia/Lord_Howe', '2028-04-02')).toBe('2028-04-01T14:45')
})
