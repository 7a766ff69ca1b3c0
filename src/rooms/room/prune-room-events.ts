import { operation } from '../../db/operation.ts'
import { sqlOne } from '../../db/sql.ts'
import { drainInPasses } from '../../queue/sweeps.ts'

const ROWS_A_PASS = 5_000

/** Removes stored live events older than a day; a stream that comes back later gets a snapshot. */
export function pruneRoomEvents(): Promise<number> {
  return drainInPasses(ROWS_A_PASS, () =>
    operation('sweep', {}, async () => {
      const { removed } = await sqlOne<{ removed: number }>`
        SELECT rooms.maint_prune_room_events(${ROWS_A_PASS}) AS removed`
      return removed
    }),
  )
}
