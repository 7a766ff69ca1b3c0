import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { ConflictError } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../audit/record.ts'
import { wakeWorkers } from './claim.ts'
import { webhookTested } from './events.ts'
import { aboutWebhook, lockOwnWebhook } from './lock-webhook.ts'

/** Sends `webhook.test` to one endpoint and no other (PLAT-44). */
export async function testWebhook(
  caller: Caller,
  { id }: { id: string },
): Promise<{ webhookId: string; deliveryId: string }> {
  const webhook = await lockOwnWebhook(caller, id)
  if (!webhook.isActive) throw new ConflictError('The endpoint is switched off.')
  const eventId = await record(caller, webhookTested, { ...aboutWebhook(webhook), payload: { webhookId: id } })
  const deliveryId = newId()
  await sql`
    INSERT INTO platform.webhook_deliveries (org_id, id, webhook_id, event_id)
    VALUES (${webhook.orgId}, ${deliveryId}, ${id}, ${eventId})`
  await wakeWorkers()
  return { webhookId: id, deliveryId }
}
