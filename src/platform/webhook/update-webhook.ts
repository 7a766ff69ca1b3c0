import { operation } from '../../db/operation.ts'
import { sql, sqlOne } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { scopeOf } from '../../graphql/context.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { record } from '../audit/record.ts'
import { wakeWorkers } from './claim.ts'
import { requireEventTypes } from './event-types.ts'
import { webhookUpdated } from './events.ts'
import { aboutWebhook, lockWebhook, readOwnWebhook, type WebhookRow } from './lock-webhook.ts'
import { requireReceiver } from './receiver.ts'

type Settings = Pick<WebhookRow, 'url' | 'eventTypes' | 'isActive'>
type UpdateWebhook = { id: string } & { [K in keyof Settings]?: Settings[K] | undefined }

/**
 * Changes what is given. Another address holds from the next attempt of what is owed (PLAT-45). Switched on again, the
 * endpoint begins anew, and what it was owed for more than three days is given up (PLAT-43).
 */
export async function updateWebhook(
  caller: Caller,
  { id, url, eventTypes, isActive }: UpdateWebhook,
): Promise<{ webhookId: string }> {
  const wanted = eventTypes && requireEventTypes(eventTypes)
  let receiver: string | undefined
  if (url !== undefined) {
    await operation('read', scopeOf(caller), () => readOwnWebhook(caller, id)) // before the address is looked up
    receiver = await requireReceiver(url)
  }

  await operation('write', scopeOf(caller), async () => {
    const { webhook, runs } = await lockWebhook(caller, id)
    if (!runs && (receiver !== undefined || wanted !== undefined || isActive !== false)) {
      throw new ForbiddenError('Only the owners of the space may do that; others may switch it off or delete it.')
    }
    const given = { url: receiver, eventTypes: wanted, isActive }
    const fields = (['url', 'eventTypes', 'isActive'] as const).filter(
      (field) => given[field] !== undefined && String(given[field]) !== String(webhook[field]),
    )
    if (fields.length === 0) return
    const after = { ...webhook, ...Object.fromEntries(fields.map((field) => [field, given[field]])) } as WebhookRow
    const turned = fields.includes('isActive')
    await sqlOne`
      UPDATE platform.webhooks SET url = ${after.url}, event_types = ${after.eventTypes}, is_active = ${after.isActive},
        disabled_reason = CASE WHEN ${!turned}::boolean THEN disabled_reason WHEN NOT ${after.isActive}::boolean THEN 'manual' END,
        failing_since = CASE WHEN ${turned && after.isActive}::boolean THEN NULL ELSE failing_since END,
        updated_by = ${caller.userId}
      WHERE org_id = ${webhook.orgId} AND id = ${id} RETURNING 1`
    if (turned && after.isActive) await resume(webhook)
    await record(caller, webhookUpdated, { ...aboutWebhook(webhook), payload: { fields, isActive: after.isActive } })
  })
  return { webhookId: id }
}

async function resume({ orgId, id }: WebhookRow): Promise<void> {
  await sql`
    UPDATE platform.webhook_deliveries
    SET state = 'dead', failed_at = now(), locked_by = NULL, locked_until = NULL,
      last_error = 'too old when the endpoint was switched on again'
    WHERE org_id = ${orgId} AND webhook_id = ${id} AND state = 'pending'
      AND coalesce(redelivered_at, created_at) < now() - interval '3 days'`
  await wakeWorkers()
}
