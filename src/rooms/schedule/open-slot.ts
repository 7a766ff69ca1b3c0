import type { Temporal } from '@js-temporal/polyfill'
import { sql } from '../../db/sql.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import { end } from '../room/end-room.ts'
import { roomCreated } from '../room/events.ts'
import { insertRoom } from '../room/insert-room.ts'
import { lockRoomsAsSystem } from '../room/lock-room.ts'
import { standupConfig } from '../standup/standup-room.ts'
import { instantFrom, slotClock } from './clock.ts'
import { standupOpened, standupSkipped } from './events.ts'
import type { SlotOutcome } from './outcome.ts'
import { dateOfSlot, type SlotPattern, slotAfter } from './slots.ts'

/** A schedule whose slot is due, leased to a worker. */
export type DueStandup = { orgId: string; scheduleId: string; spaceId: string; opensAt: string }

type Schedule = SlotPattern & { windowMinutes: number; updatedBy: string | null }
type DaySlot = DueStandup & { date: string; closesAt: string; outcome: SlotOutcome; facilitatorId: string | null }

/**
 * Does one due slot: opens its standup, or says why there is none, and arms the next slot (ROOM-124 to 126). Everything in
 * the operation that is open; of several servers the one that writes the slot does it.
 */
export async function openSlot(due: DueStandup): Promise<void> {
  const owners = await holdOwners(due)
  const earlier = await lockRoomsAsSystem(due.orgId, await openRoomsOf(due))
  const schedule = await lockDueSchedule(due)
  if (!schedule) return // saved, opened or archived meanwhile

  const opensAt = instantFrom(due.opensAt)
  const closesAt = opensAt.add({ minutes: schedule.windowMinutes })
  const facilitatorId = owners.find((id) => id === schedule.updatedBy) ?? owners[0] ?? null
  const slot: DaySlot = {
    ...due,
    date: dateOfSlot(schedule, opensAt),
    closesAt: closesAt.toString(),
    outcome: outcomeOf(await slotClock(), closesAt, facilitatorId),
    facilitatorId,
  }
  const roomId = slot.outcome === 'opened' ? newId() : null
  if (await insertSlot(slot, roomId)) {
    if (roomId !== null && facilitatorId !== null) {
      for (const room of earlier) if (room.endedAt === null) await end(systemOf(due), room)
      await openRoom({ ...slot, facilitatorId }, roomId)
    } else await tellSkipped(slot)
  }
  await arm(due, slotAfter(schedule, opensAt).opensAt)
}

function outcomeOf(now: Temporal.Instant, closesAt: Temporal.Instant, facilitatorId: string | null): SlotOutcome {
  if (now.epochNanoseconds >= closesAt.epochNanoseconds) return 'missed'
  return facilitatorId === null ? 'no_owner' : 'opened'
}

const systemOf = ({ orgId }: DueStandup) => ({ kind: 'system', orgId }) as const

/**
 * The owners who may lead, whoever was seen latest first (ROOM-125). They are held before any room, so that whoever departs
 * meanwhile waits and finds the room that they lead (ROOM-2, 23).
 */
async function holdOwners({ orgId, spaceId }: DueStandup): Promise<string[]> {
  await sql`
    SELECT FROM rooms.space_members WHERE org_id = ${orgId} AND space_id = ${spaceId} AND role = 'owner'
    ORDER BY user_id FOR KEY SHARE`
  const owners = await sql<{ userId: string }>`
    SELECT user_id AS "userId" FROM rooms.members
    WHERE org_id = ${orgId} AND space_id = ${spaceId} AND role = 'owner' AND account = 'registered' AND NOT viewer
    ORDER BY last_seen_at DESC, user_id`
  return owners.map(({ userId }) => userId)
}

/**
 * Rooms of the schedule that go on, reopened ones too: the next slot closes them (ROOM-127). Looked up as one list: joined
 * to years of slots, each slot may look through all rooms of the org.
 */
async function openRoomsOf({ orgId, scheduleId }: DueStandup): Promise<string[]> {
  const rooms = await sql<{ id: string }>`
    SELECT id FROM rooms.rooms
    WHERE org_id = ${orgId} AND ended_at IS NULL AND id = ANY (ARRAY(
      SELECT room_id FROM rooms.standup_schedule_slots
      WHERE org_id = ${orgId} AND schedule_id = ${scheduleId} AND room_id IS NOT NULL))`
  return rooms.map(({ id }) => id)
}

/** Null when that slot is not due any more, or the org takes no writes: then its window passes (ROOM-125). */
async function lockDueSchedule({ orgId, scheduleId, opensAt }: DueStandup): Promise<Schedule | null> {
  const [schedule] = await sql<Schedule>`
    SELECT s.weekdays, to_char(s.open_time, 'HH24:MI') AS "openTime", s.timezone, s.window_minutes AS "windowMinutes",
      s.updated_by AS "updatedBy"
    FROM rooms.standup_schedules AS s JOIN identity.orgs AS o ON o.id = s.org_id AND o.status = 'active'
    WHERE s.org_id = ${orgId} AND s.id = ${scheduleId} AND s.enabled AND s.next_open_at = ${opensAt}::timestamptz
    FOR NO KEY UPDATE OF s`
  return schedule ?? null
}

/** Whether the day had no slot before (ROOM-124). */
async function insertSlot({ orgId, scheduleId, date, outcome, opensAt, closesAt }: DaySlot, roomId: string | null) {
  const inserted = await sql`
    INSERT INTO rooms.standup_schedule_slots (org_id, schedule_id, slot_date, room_id, outcome, opens_at, closes_at)
    VALUES (${orgId}, ${scheduleId}, ${date}::date, ${roomId}, ${outcome}, ${opensAt}::timestamptz, ${closesAt})
    ON CONFLICT (org_id, schedule_id, slot_date) DO NOTHING RETURNING 1`
  return inserted.length > 0
}

/** What people wrote ahead is what they say, from the first moment (ROOM-129). */
async function openRoom(slot: DaySlot & { facilitatorId: string }, roomId: string): Promise<void> {
  const { orgId, spaceId, scheduleId, date, closesAt, facilitatorId } = slot
  const config = standupConfig({ async: true })
  const title = `Standup ${date}`
  await insertRoom({ orgId, roomId, spaceId, kind: 'standup', title, config, facilitatorId, createdBy: null, closesAt })
  await sql`
    INSERT INTO rooms.standup_entries (org_id, room_id, user_id, yesterday, today, blockers)
    SELECT ${orgId}::uuid, ${roomId}::uuid, user_id, yesterday, today, blockers
    FROM rooms.ahead_take(${scheduleId}, ${date}::date)`
  const system = systemOf(slot)
  const about = { target: { kind: 'Room', id: roomId }, spaceId, roomId } as const
  await record(system, roomCreated, { ...about, payload: { kind: 'standup' } })
  await record(system, standupOpened, { ...about, payload: { scheduleId, slotDate: date } })
}

async function tellSkipped(slot: DaySlot): Promise<void> {
  const { scheduleId, spaceId, date: slotDate, outcome } = slot
  const target = { kind: 'StandupSchedule', id: scheduleId } as const
  const reason = outcome === 'missed' ? 'missed' : 'no_owner'
  await record(systemOf(slot), standupSkipped, { target, spaceId, payload: { slotDate, reason } })
}

async function arm({ orgId, scheduleId }: DueStandup, next: Temporal.Instant): Promise<void> {
  await sql`
    UPDATE rooms.standup_schedules SET next_open_at = ${next.toString()}, locked_by = NULL, locked_until = NULL
    WHERE org_id = ${orgId} AND id = ${scheduleId}`
}
