import { sqlOne } from '../../db/sql.ts'
import { prune } from '../../queue/sweeps.ts'

const ROWS_A_PASS = 5_000

/** Removes what has expired; it counted as absent since (PLAT-54). */
export function pruneIdempotencyKeys(): Promise<number> {
  return prune(
    ROWS_A_PASS,
    (bound) => sqlOne<{ removed: number }>`
        SELECT platform.maint_prune_idempotency(${bound}) AS removed`,
  )
}
