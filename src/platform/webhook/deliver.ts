import { Webhook } from 'standardwebhooks'
import { encodeId } from '../../graphql/ids.ts'
import { EgressError } from '../../lib/egress/errors.ts'
import { queueOutcomes } from '../../lib/metrics.ts'
import { VERSION } from '../../lib/version.ts'
import type { LeasedWork } from '../../queue/leased-work.ts'
import { type Claimed, claimDeliveries, DELIVERIES } from './claim.ts'
import { ANSWER_BYTES, outcomeOf, type Result, resultOf } from './outcome.ts'
import { keepBody, type Leased, readLeased } from './prepare.ts'
import { recordOutcome } from './record-outcome.ts'
import { unseal } from './secret.ts'
import { webhookSettings } from './settings.ts'

/** Sends what the outbox holds. Many at once, since an attempt mostly waits. */
export const webhookDeliveries: LeasedWork<Claimed> = {
  kind: DELIVERIES,
  concurrency: 100,
  claim: claimDeliveries,
  work: deliver,
}

/** One attempt: what to send is settled in operations before it, how it ended in one after it, and none is open meanwhile. */
export async function deliver(claimed: Claimed, worker: string, signal: AbortSignal): Promise<void> {
  const startedAt = new Date()
  const leased = await readLeased(claimed, worker)
  if (!leased) return // somebody else's by now
  const { maxAttempts } = webhookSettings()
  const failures = claimed.attempts - leased.attemptsBefore
  let failure: unknown
  const result = await attempt(claimed, worker, leased, failures > maxAttempts, signal).catch((error): Result => {
    failure = error
    return { fault: 'preparation', message: 'could not be prepared' }
  })
  if (result === null) return
  const outcome = outcomeOf(result, failures, maxAttempts)
  const durationMs = Math.max(0, Date.now() - startedAt.getTime())
  if (await recordOutcome(claimed, worker, { startedAt, durationMs, result, outcome })) {
    const counted = { delivered: 'done', gone: 'dead', dead: 'dead', retry: 'retry', released: 'retry' }[outcome.kind]
    queueOutcomes.inc({ kind: DELIVERIES, outcome: counted })
  }
  if (failure) throw failure
}

async function attempt(
  claimed: Claimed,
  worker: string,
  leased: Leased,
  exhausted: boolean,
  signal: AbortSignal,
): Promise<Result | null> {
  // Its last attempts ended with the processes that made them.
  if (exhausted) return { fault: 'exhausted', message: 'no attempt is left' }
  const body = leased.body ?? (await keepBody(claimed, worker, leased))
  if (!body) return null
  const headers = await headersOf(claimed, leased, body)
  const { egress, timeout } = webhookSettings()
  try {
    const exchange = {
      url: leased.url,
      method: 'POST',
      headers,
      body,
      timeout,
      maxBytes: ANSWER_BYTES,
      signal,
    } as const
    return resultOf(await egress.request(exchange))
  } catch (error) {
    if (error instanceof EgressError) return { fault: error.fault, message: error.message }
    throw error
  }
}

/** Standard Webhooks: the id is the event's, however often it is sent; every live secret signs (PLAT-40). */
async function headersOf({ orgId, webhookId, eventId, attempts }: Claimed, leased: Leased, body: Buffer) {
  const owner = { orgId, id: webhookId }
  const secrets = [await unseal(owner, 'secret_envelope', leased.secretEnvelope)]
  if (leased.previousSecretEnvelope) {
    secrets.push(await unseal(owner, 'previous_secret_envelope', leased.previousSecretEnvelope))
  }
  const id = encodeId('AuditEvent', eventId)
  const now = new Date()
  const text = body.toString()
  return {
    'content-type': 'application/json',
    'user-agent': `Moothall/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, text)).join(' '),
    'moothall-attempt': String(attempts),
  }
}
