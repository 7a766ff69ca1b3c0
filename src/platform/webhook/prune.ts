import { operation } from '../../db/operation.ts'
import { sqlOne } from '../../db/sql.ts'
import { drainInPasses } from '../../queue/sweeps.ts'
import { webhookSettings } from './settings.ts'

const ROWS_A_PASS = 5_000

/** Removes deliveries that ended long ago, with their attempts; what is owed stays (PLAT-46). */
export function pruneDeliveries(): Promise<number> {
  const { retention } = webhookSettings()
  return drainInPasses(ROWS_A_PASS, () =>
    operation('sweep', {}, async () => {
      const { removed } = await sqlOne<{ removed: number }>`
        SELECT platform.maint_prune_webhook_deliveries(${ROWS_A_PASS}, ${retention}::float8 * interval '1 ms') AS removed`
      return removed
    }),
  )
}
