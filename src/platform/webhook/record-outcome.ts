import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { record } from '../audit/record.ts'
import type { Claimed } from './claim.ts'
import { webhookDisabled } from './events.ts'
import { aboutWebhook } from './lock-webhook.ts'
import type { Outcome, Result } from './outcome.ts'

export type Attempt = { startedAt: Date; durationMs: number; result: Result; outcome: Outcome }
type Endpoint = { spaceId: string | null; isActive: boolean; tooLong: boolean }

/**
 * Writes how an attempt ended, if the lease is still the worker's: a late answer of one that was taken over changes nothing
 * (PLAT-42). Endpoint before delivery, as everybody locks them. Says whether it was written.
 */
export function recordOutcome(claimed: Claimed, worker: string, attempt: Attempt): Promise<boolean> {
  const { orgId, webhookId } = claimed
  return operation('write', { orgId }, async () => {
    const [endpoint] = await sql<Endpoint>`
      SELECT space_id AS "spaceId", is_active AS "isActive",
        coalesce(failing_since < now() - interval '5 days', false) AS "tooLong"
      FROM platform.webhooks WHERE org_id = ${orgId} AND id = ${webhookId} FOR NO KEY UPDATE`
    if (!endpoint || !(await endDelivery(claimed, worker, attempt))) return false
    await logAttempt(claimed, worker, attempt)
    await judgeEndpoint(claimed, endpoint, attempt.outcome)
    return true
  })
}

async function endDelivery({ orgId, id, attempts }: Claimed, worker: string, { result, outcome }: Attempt) {
  const { kind } = outcome
  const state = { delivered: 'delivered', gone: 'dead', dead: 'dead', retry: 'pending', released: 'pending' }[kind]
  const pause = kind === 'retry' ? outcome.pause : 0
  const ended = await sql`
    UPDATE platform.webhook_deliveries
    SET state = ${state}, locked_by = NULL, locked_until = NULL, last_error = ${errorOf(result)},
      delivered_at = CASE WHEN ${state} = 'delivered' THEN now() END,
      failed_at = CASE WHEN ${state} = 'dead' THEN now() END,
      next_attempt_at = CASE WHEN ${state} = 'pending' THEN now() + ${pause}::float8 * interval '1 ms' ELSE next_attempt_at END,
      attempts_before = attempts_before + ${kind === 'released' ? 1 : 0}::integer
    WHERE org_id = ${orgId} AND id = ${id} AND state = 'pending' AND locked_by = ${worker} AND attempts = ${attempts}
    RETURNING 1`
  return ended.length > 0
}

async function logAttempt({ orgId, id, attempts }: Claimed, worker: string, attempt: Attempt): Promise<void> {
  const { startedAt, durationMs, result, outcome } = attempt
  const [status, text] = 'status' in result ? [result.status, result.text] : [null, null]
  await sql`
    INSERT INTO platform.webhook_attempts (org_id, delivery_id, attempt, status, started_at, duration_ms, response_status,
      response_body, error_message, worker)
    VALUES (${orgId}, ${id}, ${attempts}, ${outcome.kind === 'delivered' ? 'succeeded' : 'failed'}, ${startedAt},
      ${durationMs}, ${status}, ${text}, ${errorOf(result)}, ${worker})`
}

/** How the endpoint fares, and whether it is to be tried further (PLAT-43). */
async function judgeEndpoint({ orgId, webhookId: id }: Claimed, endpoint: Endpoint, { kind }: Outcome): Promise<void> {
  if (kind === 'released') return
  if (kind === 'delivered') {
    await sql`
      UPDATE platform.webhooks SET last_success_at = now(), failing_since = NULL WHERE org_id = ${orgId} AND id = ${id}`
    return
  }
  const reason = kind === 'gone' ? 'gone' : endpoint.tooLong ? 'failing' : null
  const ends = reason !== null && endpoint.isActive
  await sql`
    UPDATE platform.webhooks SET last_failure_at = now(), failing_since = coalesce(failing_since, now()),
      is_active = is_active AND NOT ${ends}::boolean,
      disabled_reason = CASE WHEN ${ends}::boolean THEN ${reason} ELSE disabled_reason END
    WHERE org_id = ${orgId} AND id = ${id}`
  if (!ends) return
  await record({ kind: 'system', orgId }, webhookDisabled, {
    ...aboutWebhook({ id, spaceId: endpoint.spaceId }),
    payload: { webhookId: id, reason },
  })
}

function errorOf(result: Result): string | null {
  if (!('status' in result)) return result.message
  return result.status >= 200 && result.status < 300 ? null : `answered ${result.status}`
}
