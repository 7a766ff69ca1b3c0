import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Unit } from '../../queue/sweeps.ts'
import { lockRoomAsSystem } from '../room/lock-room.ts'
import { slotOf } from '../schedule/slot-of-room.ts'
import { freezeDay } from './freeze-day.ts'

const DAYS_A_PASS = 1_000

/** Freezes the days of standups that nobody ended while their local day lasted (ROOM-132). */
export async function freezePastDays(unit: Unit): Promise<void> {
  const past = await operation(
    'sweep',
    {},
    () => sql<{ orgId: string; roomId: string }>`
      SELECT org_id AS "orgId", room_id AS "roomId" FROM rooms.claim_unfrozen_slots(${DAYS_A_PASS})`,
  )
  for (const { orgId, roomId } of past) await unit(() => operation('write', { orgId }, () => freeze(orgId, roomId)))
}

async function freeze(orgId: string, roomId: string): Promise<void> {
  const room = await lockRoomAsSystem(orgId, roomId)
  const slot = room && (await slotOf(room))
  if (slot) await freezeDay(room, slot)
}
