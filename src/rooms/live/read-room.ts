import { sql } from '../../db/sql.ts'
import type { RoomEvent, RoomEventName } from './event-payloads.ts'

/** More than this many versions behind, a snapshot says it shorter (ROOM-173). */
export const REPLAY_MAX = 256

export type RoomRead = {
  /** Null when the room is gone. */
  version: bigint | null
  kind: string | null
  /** Stored events after the asked version, in order, at most REPLAY_MAX + 1. */
  events: RoomEvent[]
  /** Who of the asked people may see the room. */
  viewers: Set<string>
}

type Stored = { version: string; type: string; actor_id: string | null; audience: string; payload: object; at: string }
type Asked = { orgId: string; roomId: string; after: bigint; users: readonly string[]; guests: boolean }

/** State and events of one snapshot, and everybody's access, in one trip (ROOM-172, 175). */
export async function readRoom({ orgId, roomId, after, users, guests }: Asked): Promise<RoomRead> {
  const [rooms, stored, viewers] = await Promise.all([
    sql<{
      version: string
      kind: string
    }>`SELECT version::text, kind FROM rooms.rooms WHERE org_id = ${orgId} AND id = ${roomId}`,
    sql<Stored>`
      SELECT version::text, type, actor_id, audience, payload, created_at::text AS at
      FROM rooms.room_events WHERE org_id = ${orgId} AND room_id = ${roomId} AND version > ${after}
      ORDER BY room_events.version LIMIT ${REPLAY_MAX + 1}`,
    sql<{ id: string }>`SELECT rooms.room_viewers(${roomId}, ${users}::uuid[]) AS id`,
  ])
  const version = rooms[0] ? BigInt(rooms[0].version) : null
  return {
    version,
    kind: rooms[0]?.kind ?? null,
    events: markNewestAction(stored.map((row) => eventOf(orgId, roomId, row, guests))),
    viewers: new Set(viewers.map(({ id }) => id)),
  }
}

/** Of several the newest alone brings the state, which is the one that is read now (ROOM-162). */
function markNewestAction(events: RoomEvent[]): RoomEvent[] {
  const newest = events.findLast(({ type }) => type === 'RoomActionApplied') as
    | RoomEvent<'RoomActionApplied'>
    | undefined
  if (newest) newest.payload = { ...newest.payload, newest: true }
  return events
}

/** What is stored for members alone tells a guest its version and nothing else (ROOM-171). */
function eventOf(orgId: string, roomId: string, row: Stored, guests: boolean): RoomEvent {
  const version = BigInt(row.version)
  if (guests && row.audience === 'members') {
    return { type: 'RoomTouched', orgId, roomId, version, at: row.at, actorId: null, payload: {} }
  }
  return {
    type: row.type as RoomEventName,
    orgId,
    roomId,
    version,
    at: row.at,
    actorId: row.actor_id,
    payload: row.payload,
  } as RoomEvent
}

export async function presentUserIds(roomId: string): Promise<string[]> {
  const people = await sql<{ user_id: string }>`
    SELECT user_id FROM rooms.room_people(${roomId}) WHERE present ORDER BY user_id`
  return people.map(({ user_id }) => user_id)
}

/** The versions of these rooms, for the look that makes up for lost notifications. */
export async function versionsOf(orgId: string, roomIds: readonly string[]): Promise<Map<string, bigint>> {
  const rows = await sql<{ id: string; version: string }>`
    SELECT id, version::text FROM rooms.rooms WHERE org_id = ${orgId} AND id = ANY (${roomIds}::uuid[])`
  return new Map(rows.map(({ id, version }) => [id, BigInt(version)]))
}
