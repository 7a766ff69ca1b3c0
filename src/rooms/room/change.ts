import { sqlOne, sqlText } from '../../db/sql.ts'
import { type Actor, type EventType, type Facts, record } from '../../platform/index.ts'
import type { RoomEventPayloads } from '../live/event-payloads.ts'
import type { TimerEnd } from '../timer/timer.ts'
import type { LockedRoom } from './lock-room.ts'

export type RoomChange = { readonly roomId: string; readonly version: bigint }

type RoomEventType = keyof RoomEventPayloads

/** One version of the room: what its streams hear, what the row becomes, and what is put on record. */
export type Step<T extends RoomEventType = RoomEventType> = {
  [K in T]: {
    type: K
    payload: RoomEventPayloads[K]
    /** `members` hides the event from guests, who learn of the version alone (ROOM-171). */
    audience?: 'all' | 'members'
    /** Columns of the room's row that this version changes. */
    set?: RoomColumns
    fact?: Fact
  }
}[T]

/** What a step puts on record. Made by `fact`, which ties a payload to its event type. */
export type Fact = (actor: Actor, room: LockedRoom) => Promise<string>

export function fact<P extends object>(event: EventType<P>, payload: NoInfer<P>, target?: Facts<P>['target']): Fact {
  return (actor, { id, spaceId, spaceSlug }) =>
    record(actor, event, { target: target ?? { kind: 'Room', id }, spaceId, spaceSlug, roomId: id, payload })
}

/** Two facts of one version. */
export const bothFacts =
  (first: Fact, second: Fact): Fact =>
  async (actor, room) => {
    const [id] = await Promise.all([first(actor, room), second(actor, room)])
    return id
  }

export type RoomColumns = Partial<{
  title: string
  config: object
  state: object
  phase: string
  facilitator_id: string | null
  current_speaker_id: string | null
  speaker_started_at: string | null
  current_story_id: string | null
  revealed: boolean
  poker_round_version: bigint
  timer_started_at: string | null
  timer_ends_at: string | null
  timer_on_end: TimerEnd
  closes_at: string | null
  ended_at: string | null
  first_ended_at: string | null
}>

/** Columns that a step may set; anything else in `set` would be SQL from somewhere else. */
const COLUMNS: Record<keyof RoomColumns, true> = {
  title: true,
  config: true,
  state: true,
  phase: true,
  facilitator_id: true,
  current_speaker_id: true,
  speaker_started_at: true,
  current_story_id: true,
  revealed: true,
  poker_round_version: true,
  timer_started_at: true,
  timer_ends_at: true,
  timer_on_end: true,
  closes_at: true,
  ended_at: true,
  first_ended_at: true,
}

const JSON_COLUMNS: ReadonlySet<string> = new Set(['config', 'state'])

/**
 * The one place that raises a room's version, stores the live event and records the fact, in the transaction that holds
 * the room's lock (ROOM-3). All of it goes out in one trip; the connection keeps the order. No steps: nothing changed,
 * nothing is told (ROOM-4).
 */
export async function change(actor: Actor, room: LockedRoom, steps: readonly Step[]): Promise<RoomChange> {
  const versioned = steps.map((step, at) => ({ step, version: room.version + BigInt(at) + 1n }))
  await Promise.all(
    versioned.flatMap(({ step, version }) => [store(actor, room, version, step), step.fact?.(actor, room)]),
  )
  return { roomId: room.id, version: room.version + BigInt(steps.length) }
}

/** A call that changed nothing answers with the room as it is (ROOM-4). */
export const noChange = (room: LockedRoom): RoomChange => ({ roomId: room.id, version: room.version })

/**
 * As much of JSON as surely fits into the 64 KiB of a stored event. A bigger event is not stored: its version is a gap, and
 * streams get a snapshot instead (ROOM-170). So a room of a thousand voters reveals, too.
 */
const PAYLOAD_MAX = 56 * 1_024

/** The row and its event in one statement; the guard on the row refuses a version that skips (MH021). */
async function store(actor: Actor, room: LockedRoom, version: bigint, step: Step): Promise<void> {
  const values: unknown[] = [room.orgId, room.id, version]
  const bind = (value: unknown) => `$${values.push(value)}`
  const sets = ['version = $3']
  for (const [column, value] of Object.entries(step.set ?? {})) {
    if (!Object.hasOwn(COLUMNS, column)) throw new TypeError('no such column of a room')
    sets.push(`${column} = ${bind(JSON_COLUMNS.has(column) ? JSON.stringify(value) : value)}`)
  }
  if (isSignOfLife(actor, room, step)) sets.push('facilitator_seen_at = clock_timestamp()')

  const payload = JSON.stringify(step.payload)
  const actorId = actor.kind === 'system' ? null : actor.userId
  const told =
    Buffer.byteLength(payload) > PAYLOAD_MAX
      ? 'SELECT rooms.notify_room($1, $2) FROM changed'
      : `INSERT INTO rooms.room_events (org_id, room_id, version, type, actor_id, audience, payload)
         SELECT $1, $2, $3, ${[step.type, actorId, step.audience ?? 'all', payload].map(bind).join(', ')} FROM changed`
  await sqlText(
    `WITH changed AS (UPDATE rooms.rooms SET ${sets.join(', ')} WHERE org_id = $1 AND id = $2 RETURNING 1) ${told}`,
    values,
  )
}

/** Whoever takes the lead is there, and so is a facilitator who acts (ROOM-41), but from a meeting client (ROOM-22). */
function isSignOfLife(actor: Actor, room: LockedRoom, { set }: Step): boolean {
  if (set?.facilitator_id !== undefined) return set.facilitator_id !== null
  return actor.kind !== 'system' && actor.userId === room.facilitatorId && !actor.embedded
}

/** The database's clock, which decides every deadline after the lock is held (ROOM-1). */
export async function databaseNow(): Promise<string> {
  const { now } = await sqlOne<{ now: string }>`SELECT clock_timestamp()::text AS now`
  return now
}
