import { operation } from '../../db/operation.ts'
import { sqlOne } from '../../db/sql.ts'

const ROWS_A_PASS = 5_000

/** Removes stored live events older than a day; a stream that comes back later gets a snapshot. */
export async function pruneRoomEvents(): Promise<number> {
  let pruned = 0
  for (let removed = ROWS_A_PASS; removed === ROWS_A_PASS; pruned += removed) {
    ;({ removed } = await operation(
      'sweep',
      {},
      () => sqlOne<{ removed: number }>`SELECT rooms.maint_prune_room_events(${ROWS_A_PASS}) AS removed`,
    ))
  }
  return pruned
}
