import { sqlOne } from '../../db/sql.ts'
import { prune } from '../../queue/sweeps.ts'
import { webhookSettings } from './settings.ts'

const ROWS_A_PASS = 5_000

/** Removes deliveries that ended long ago, with their attempts; what is owed stays (PLAT-46). */
export function pruneDeliveries(): Promise<number> {
  const { retention } = webhookSettings()
  return prune(
    ROWS_A_PASS,
    (bound) => sqlOne<{ removed: number }>`
        SELECT platform.maint_prune_webhook_deliveries(${bound}, ${retention}::float8 * interval '1 ms') AS removed`,
  )
}
