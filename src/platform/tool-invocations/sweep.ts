import { operation } from '../../db/operation.ts'
import { sqlOne } from '../../db/sql.ts'
import { drainInPasses } from '../../queue/sweeps.ts'
import { toolInvocationSettings } from './settings.ts'

const ROWS_A_PASS = 5_000

/** Removes calls whose time is over; the events that tell of them stay (PLAT-22). */
export function pruneToolInvocations(): Promise<number> {
  const { retention } = toolInvocationSettings()
  return drainInPasses(ROWS_A_PASS, () =>
    operation('sweep', {}, async () => {
      const { removed } = await sqlOne<{ removed: number }>`
        SELECT platform.maint_prune_tool_invocations(${ROWS_A_PASS}, ${retention}::float8) AS removed`
      return removed
    }),
  )
}
