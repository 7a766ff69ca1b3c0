import { sqlOne } from '../../db/sql.ts'
import { prune } from '../../queue/sweeps.ts'

const ROWS_A_PASS = 5_000

/** Removes answers for days that are a week past and never opened with them (ROOM-129). */
export const pruneAheadEntries = () =>
  prune(
    ROWS_A_PASS,
    (bound) => sqlOne<{ removed: number }>`SELECT rooms.maint_prune_ahead_entries(${bound}) AS removed`,
  )
