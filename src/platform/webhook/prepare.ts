import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { renderBody } from './body.ts'
import type { Claimed } from './claim.ts'

/** A delivery that is the worker's, and its endpoint as it is now. */
export type Leased = {
  /** Null until it is rendered. */
  body: Buffer | null
  attemptsBefore: number
  spaceId: string | null
  url: string
  apiVersion: string
  secretEnvelope: Buffer
  /** While it signs too. */
  previousSecretEnvelope: Buffer | null
}

/** Null when the lease is somebody else's by now, or there is nothing left to send. */
export function readLeased({ orgId, id, attempts }: Claimed, worker: string): Promise<Leased | null> {
  return operation('read', { orgId }, async () => {
    const [leased] = await sql<Leased>`
      SELECT d.body, d.attempts_before AS "attemptsBefore", w.space_id AS "spaceId", w.url, w.api_version AS "apiVersion",
        w.secret_envelope AS "secretEnvelope",
        CASE WHEN w.previous_secret_until > now() THEN w.previous_secret_envelope END AS "previousSecretEnvelope"
      FROM platform.webhook_deliveries AS d
      JOIN platform.webhooks AS w ON w.org_id = d.org_id AND w.id = d.webhook_id
      WHERE d.org_id = ${orgId} AND d.id = ${id} AND d.state = 'pending' AND d.locked_by = ${worker}
        AND d.attempts = ${attempts}`
    return leased ?? null
  })
}

/** Renders what every attempt will send, and keeps it. Null when the lease is somebody else's by now. */
export function keepBody(claimed: Claimed, worker: string, endpoint: Leased): Promise<Buffer | null> {
  const { orgId, id, attempts } = claimed
  return operation('write', { orgId }, async () => {
    const body = await renderBody(claimed, endpoint)
    const kept = await sql`
      UPDATE platform.webhook_deliveries SET body = ${body}
      WHERE org_id = ${orgId} AND id = ${id} AND state = 'pending' AND locked_by = ${worker} AND attempts = ${attempts}
      RETURNING 1`
    return kept.length === 0 ? null : body
  })
}
