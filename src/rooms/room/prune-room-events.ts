import { sqlOne } from '../../db/sql.ts'
import { prune } from '../../queue/sweeps.ts'

const ROWS_A_PASS = 5_000

/** Removes stored live events older than a day; a stream that comes back later gets a snapshot. */
export function pruneRoomEvents(): Promise<number> {
  return prune(
    ROWS_A_PASS,
    (bound) => sqlOne<{ removed: number }>`
        SELECT rooms.maint_prune_room_events(${bound}) AS removed`,
  )
}
