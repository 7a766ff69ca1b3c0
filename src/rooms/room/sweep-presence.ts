import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { completeWithout } from './complete-without.ts'

const ROWS_A_PASS = 1_000

type Place = { orgId: string; roomId: string }

/**
 * Removes connections that fell silent; the removal itself tells the rooms' streams (ROOM-52). Whoever was the last one
 * waited for completes the round by being gone (ROOM-66). `unit` runs one room's work and answers for its errors.
 */
export async function sweepPresence(unit: (work: () => Promise<void>) => Promise<void>): Promise<void> {
  const rooms = await operation(
    'sweep',
    {},
    () => sql<Place>`
      SELECT org_id AS "orgId", room_id AS "roomId" FROM rooms.maint_prune_room_presence(${ROWS_A_PASS})`,
  )
  for (const { orgId, roomId } of rooms) {
    await unit(() => operation('write', { orgId }, () => completeWithout({ kind: 'system', orgId }, roomId)))
  }
}
