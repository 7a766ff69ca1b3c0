import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { revealByTimer } from '../poker/reveal-by-timer.ts'
import { end } from './end-room.ts'
import { lockRoomAsSystem } from './lock-room.ts'

const ROOMS_A_PASS = 100

type Due = { orgId: string; roomId: string; due: 'window' | 'timer'; dueAt: string; roundVersion: string }

/**
 * Does what is due in rooms: timers that reveal, windows that end (ROOM-81). Several processes may find the same room;
 * each compares what it found with the room once more, under the lock. `unit` runs one room's work and answers for its
 * errors.
 */
export async function fireDueRooms(unit: (work: () => Promise<void>) => Promise<void>): Promise<void> {
  const due = await operation(
    'sweep',
    {},
    () => sql<Due>`
      SELECT org_id AS "orgId", room_id AS "roomId", due, due_at::text AS "dueAt",
        poker_round_version::text AS "roundVersion"
      FROM rooms.claim_due_rooms(${ROOMS_A_PASS})`,
  )
  for (const each of due) await unit(() => operation('write', { orgId: each.orgId }, () => fire(each)))
}

async function fire({ orgId, roomId, due, dueAt, roundVersion }: Due): Promise<void> {
  if (due === 'timer') await revealByTimer(orgId, roomId, { endsAt: dueAt, roundVersion: BigInt(roundVersion) })
  else await endWindow(orgId, roomId, dueAt)
}

async function endWindow(orgId: string, roomId: string, dueAt: string): Promise<void> {
  const room = await lockRoomAsSystem(orgId, roomId)
  if (room?.endedAt === null && room.closesAt === dueAt) await end({ kind: 'system', orgId }, room)
}
