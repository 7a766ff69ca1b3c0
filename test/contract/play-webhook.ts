import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import { uuidOf, type World } from '../support/world.ts'
import type { Play } from './stage.ts'

/** Nobody listens there, and nobody need: what is sent is refused at once. */
export const RECEIVER = 'http://127.0.0.1:9'

/** The space's own endpoint, with a delivery that was given up. It asks for nothing that a play makes. */
export async function withWebhook(world: World, play: Play): Promise<void> {
  const { steward, space } = play
  const input = { spaceId: space.id, url: RECEIVER, eventTypes: ['webhook.disabled'] }
  const { webhook } = await steward.mutate('webhookCreate', input, 'webhook { id }')
  const [event, delivery] = [newId(), newId()]
  await world.sql(
    `WITH event AS (
       INSERT INTO platform.audit_events (org_id, id, category, event_type, actor_kind, space_id)
       VALUES ($1, $2, 'activity', 'room.ended', 'system', $3))
     INSERT INTO platform.webhook_deliveries (org_id, id, webhook_id, event_id, state, failed_at)
     VALUES ($1, $4, $5, $2, 'dead', now())`,
    [space.orgId, event, space.uuid, delivery, uuidOf(webhook.id)],
  )
  play.webhookId = webhook.id
  play.deliveryId = encodeId('WebhookDelivery', delivery)
}
