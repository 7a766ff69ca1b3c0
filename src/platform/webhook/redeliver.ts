import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { ConflictError, NotFoundError } from '../../graphql/errors.ts'
import { record } from '../audit/record.ts'
import { visibleDeliveries } from './access.ts'
import { wakeWorkers } from './claim.ts'
import { deliveryRedelivered } from './events.ts'
import { lockOwnWebhook } from './lock-webhook.ts'

/** Sends once more what was delivered or given up: the same id and bytes, with as many attempts as at first (PLAT-44). */
export async function redeliver(caller: Caller, { id }: { id: string }): Promise<{ deliveryId: string }> {
  const { orgId } = caller
  const delivery = await prisma.webhookDelivery.findFirst({
    where: { AND: [{ orgId, id }, visibleDeliveries(caller)] },
    select: { webhookId: true, eventId: true },
  })
  if (!delivery) throw new NotFoundError('id')
  const { webhookId, eventId } = delivery
  const { spaceId } = await lockOwnWebhook(caller, webhookId)
  const again = await sql`
    UPDATE platform.webhook_deliveries
    SET state = 'pending', next_attempt_at = now(), attempts_before = attempts, delivered_at = NULL, failed_at = NULL,
      redelivered_at = now()
    WHERE org_id = ${orgId} AND id = ${id} AND state <> 'pending' RETURNING 1`
  if (again.length === 0) throw new ConflictError('It is still on its way.')
  await record(caller, deliveryRedelivered, {
    target: { kind: 'WebhookDelivery', id },
    spaceId,
    payload: { webhookId, eventId },
  })
  await wakeWorkers()
  return { deliveryId: id }
}
