import { operation } from '../../db/operation.ts'
import { sqlOne } from '../../db/sql.ts'
import { drainInPasses } from '../../queue/sweeps.ts'

const ROWS_A_PASS = 5_000

/** Removes what has expired; it counted as absent since (PLAT-54). */
export function pruneIdempotencyKeys(): Promise<number> {
  return drainInPasses(ROWS_A_PASS, () =>
    operation('sweep', {}, async () => {
      const { removed } = await sqlOne<{ removed: number }>`
        SELECT platform.maint_prune_idempotency(${ROWS_A_PASS}) AS removed`
      return removed
    }),
  )
}
