import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { record } from '../audit/record.ts'
import { webhookDeleted } from './events.ts'
import { aboutWebhook, lockWebhook, scopeOfWebhook } from './lock-webhook.ts'

/** Deletes an endpoint with its deliveries; its events stay (PLAT-45). */
export async function deleteWebhook(caller: Caller, { id }: { id: string }): Promise<{ webhookId: string }> {
  const { webhook } = await lockWebhook(caller, id)
  await sql`DELETE FROM platform.webhooks WHERE org_id = ${webhook.orgId} AND id = ${id}`
  await record(caller, webhookDeleted, { ...aboutWebhook(webhook), payload: { scope: scopeOfWebhook(webhook) } })
  return { webhookId: id }
}
