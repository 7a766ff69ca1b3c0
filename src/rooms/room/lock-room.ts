import { sql, sqlText } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import type { TimerEnd } from '../timer/timer.ts'
import { isHost } from './access.ts'
import { RoomEndedError } from './errors.ts'

/** A room's row as it is under the lock, and what the caller is in it. */
export type LockedRoom = {
  readonly orgId: string
  readonly id: string
  readonly spaceId: string
  /** For the record; '' where the operation does not see the space, as a guest's. */
  readonly spaceSlug: string
  readonly kind: string
  readonly title: string
  /** Of the shape that its kind has, such as `PokerRoom`. */
  readonly config: object
  readonly phase: string
  readonly version: bigint
  readonly facilitatorId: string | null
  readonly facilitatorSeenAt: Date | null
  readonly currentStoryId: string | null
  readonly revealed: boolean
  readonly roundVersion: bigint
  readonly currentSpeakerId: string | null
  readonly timerStartedAt: string | null
  readonly timerEndsAt: string | null
  readonly timerOnEnd: TimerEnd
  readonly closesAt: string | null
  readonly endedAt: string | null
  readonly firstEndedAt: string | null
  /** The org takes no writes: it is archived, or on its way out. */
  readonly orgIsQuiet: boolean
  readonly me: Me
}

export type Me = {
  readonly kind: 'member' | 'guest' | 'system'
  readonly role: 'owner' | 'member' | null
  readonly spectator: boolean
  /** An org viewer, whatever they came in by: reads and nothing else (ROOM-22). */
  readonly viewer: boolean
  readonly cofacilitator: boolean
}

type Row = Omit<LockedRoom, 'version' | 'roundVersion' | 'me'> & { version: string; roundVersion: string }
type MemberRow = {
  role: 'owner' | 'member' | null
  spectator: boolean | null
  viewer: boolean | null
  cofacilitator: boolean | null
  /** Of a guest: their link holds. */
  comesIn: boolean
}

/**
 * Locks the room, then reads what decides (ROOM-1): a change of the same room waits here, so what is read is what holds
 * until the commit. A room that the caller may not see is not there (ROOM-6).
 */
export async function lockRoom(caller: UserCaller, roomId: string, path = 'roomId'): Promise<LockedRoom> {
  // Both go out in one trip; the second runs after the lock is held, with a snapshot that is newer than the wait for it.
  return seenBy(caller, roomId, path, lockRow)
}

/** The same without the lock, for what only looks and decides nothing yet. */
export const lookAtRoom = (caller: UserCaller, roomId: string): Promise<LockedRoom> =>
  seenBy(caller, roomId, 'roomId', findRow)

async function seenBy(caller: UserCaller, roomId: string, path: string, read: typeof findRow): Promise<LockedRoom> {
  const [rows, mine] = await Promise.all([read(caller.orgId, roomId), membership(caller, roomId)])
  const row = rows[0]
  const me = row && meIn(caller, roomId, mine[0])
  if (!me) throw new NotFoundError(path)
  return lockedRoom(row, me)
}

/** The same for the system, which sees every room of the org its operation has. Null when the room is gone. */
export async function lockRoomAsSystem(orgId: string, roomId: string): Promise<LockedRoom | null> {
  const [row] = await lockRow(orgId, roomId)
  return row ? lockedRoom(row, SYSTEM) : null
}

/** Several rooms in the one order in which anybody locks several (ROOM-2). */
export async function lockRoomsAsSystem(orgId: string, roomIds: readonly string[]): Promise<LockedRoom[]> {
  const rooms: LockedRoom[] = []
  for (const id of roomIds.toSorted()) {
    const room = await lockRoomAsSystem(orgId, id)
    if (room) rooms.push(room)
  }
  return rooms
}

const GUEST: Me = { kind: 'guest', role: null, spectator: false, viewer: false, cofacilitator: false }
const SYSTEM: Me = { kind: 'system', role: null, spectator: true, viewer: false, cofacilitator: false }

const lockedRoom = (row: Row, me: Me): LockedRoom => ({
  ...row,
  version: BigInt(row.version),
  roundVersion: BigInt(row.roundVersion),
  me,
})

const ROW = `
    SELECT org_id AS "orgId", id, space_id AS "spaceId", kind, title, config, phase, version::text,
      facilitator_id AS "facilitatorId", facilitator_seen_at AS "facilitatorSeenAt",
      current_story_id AS "currentStoryId", revealed, poker_round_version::text AS "roundVersion",
      current_speaker_id AS "currentSpeakerId",
      timer_started_at::text AS "timerStartedAt", timer_ends_at::text AS "timerEndsAt", timer_on_end AS "timerOnEnd",
      closes_at::text AS "closesAt", ended_at::text AS "endedAt", first_ended_at::text AS "firstEndedAt",
      coalesce((SELECT slug FROM rooms.spaces AS s WHERE s.org_id = rooms.org_id AND s.id = rooms.space_id), '')
        AS "spaceSlug",
      EXISTS (SELECT FROM identity.orgs AS o WHERE o.id = rooms.org_id AND o.status <> 'active') AS "orgIsQuiet"
    FROM rooms.rooms WHERE org_id = $1 AND id = $2`

const findRow = (orgId: string, roomId: string) => sqlText<Row>(ROW, [orgId, roomId])
const lockRow = (orgId: string, roomId: string) => sqlText<Row>(`${ROW} FOR NO KEY UPDATE`, [orgId, roomId])

/** Org viewers are always spectators, through a meeting client too (ROOM-22). */
function membership({ orgId, userId, standing }: UserCaller, roomId: string): Promise<MemberRow[]> {
  return sql<MemberRow>`
    SELECT m.role, m.spectator, m.viewer, p.cofacilitator,
      CASE WHEN ${standing === 'GUEST'}::boolean THEN
        EXISTS (SELECT FROM rooms.room_viewers(r.id, ${[userId]}::uuid[])) ELSE false END AS "comesIn"
    FROM rooms.rooms AS r
    LEFT JOIN rooms.members AS m ON m.org_id = r.org_id AND m.space_id = r.space_id AND m.user_id = ${userId}
    LEFT JOIN rooms.room_participants AS p ON p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = ${userId}
    WHERE r.org_id = ${orgId} AND r.id = ${roomId}`
}

function meIn(caller: UserCaller, roomId: string, row: MemberRow | undefined): Me | null {
  if (caller.standing === null) return null
  if (caller.standing === 'GUEST') {
    return caller.roomId === roomId && row?.comesIn ? GUEST : null
  }
  if (!row?.role) return null
  const { role } = row
  const viewer = row.viewer ?? false
  // Org viewers are always spectators (ROOM-22).
  const spectator = (row.spectator ?? true) || viewer
  return { kind: 'member', role, spectator, viewer, cofacilitator: row.cofacilitator ?? false }
}

/** Throws unless the caller leads the room (ROOM-40). */
export function requireHost(caller: UserCaller, room: LockedRoom): void {
  if (!isHost(caller, room)) throw new ForbiddenError('Only the hosts of the room may do that.')
}

/** A done room takes no such change (ROOM-5). */
export function requireOpen(room: LockedRoom): void {
  if (room.endedAt !== null) throw new RoomEndedError()
}
