import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'

/** A delivery that a worker has leased. No later lease of it has the same worker and the same number of attempts. */
export type Claimed = {
  readonly id: string
  readonly orgId: string
  readonly webhookId: string
  readonly eventId: string
  readonly attempts: number
}

/** Much longer than an attempt may take. */
const LEASE = '2 minutes'

/** What the database's own fan-out calls them on channel moothall_jobs. */
export const DELIVERIES = 'webhook_delivery'

/** In the operation that makes something due: workers hear of it with its commit. */
export async function wakeWorkers(): Promise<void> {
  await sql`SELECT platform.notify_jobs(${DELIVERIES})`
}

/** Leases what is due, over all orgs (PLAT-41). */
export const claimDeliveries = (worker: string, limit: number): Promise<Claimed[]> =>
  operation(
    'sweep',
    {},
    () => sql<Claimed>`
      SELECT id, org_id AS "orgId", webhook_id AS "webhookId", event_id AS "eventId", attempts
      FROM platform.claim_webhook_deliveries(${worker}, ${limit}, ${LEASE}::interval)`,
  )
