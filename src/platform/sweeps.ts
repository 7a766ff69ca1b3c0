import { operation } from '../db/operation.ts'
import { sql } from '../db/sql.ts'
import { drainInPasses, type Sweep } from '../queue/sweeps.ts'
import { pruneIdempotencyKeys } from './idempotency/sweep.ts'
import { pruneToolInvocations } from './tool-invocations/sweep.ts'
import { pruneDeliveries } from './webhook/prune.ts'

const ROWS_A_PASS = 10_000

/** Removes counters whose time is over; their limiter would start them anew anyway. */
export function pruneRateLimits(): Promise<number> {
  return drainInPasses(ROWS_A_PASS, () =>
    operation('write', {}, async () => {
      const removed = await sql`
        DELETE FROM platform.rate_limits WHERE key IN (
          SELECT key FROM platform.rate_limits WHERE expire < extract(epoch FROM now()) * 1000
          LIMIT ${ROWS_A_PASS} FOR UPDATE SKIP LOCKED)
        RETURNING 1`
      return removed.length
    }),
  )
}

export const platformSweeps: readonly Sweep[] = [
  { name: 'idempotency_prune', every: 600_000, work: pruneIdempotencyKeys },
  { name: 'limits_prune', every: 600_000, work: pruneRateLimits },
  { name: 'tool_prune', every: 3_600_000, work: pruneToolInvocations },
  { name: 'webhook_prune', every: 3_600_000, work: pruneDeliveries },
]
