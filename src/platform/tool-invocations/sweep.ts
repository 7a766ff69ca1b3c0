import { sqlOne } from '../../db/sql.ts'
import { prune } from '../../queue/sweeps.ts'
import { toolInvocationSettings } from './settings.ts'

const ROWS_A_PASS = 5_000

/** Removes calls whose time is over; the events that tell of them stay (PLAT-22). */
export function pruneToolInvocations(): Promise<number> {
  const { retention } = toolInvocationSettings()
  return prune(
    ROWS_A_PASS,
    (bound) => sqlOne<{ removed: number }>`
        SELECT platform.maint_prune_tool_invocations(${bound}, ${retention}::float8) AS removed`,
  )
}
