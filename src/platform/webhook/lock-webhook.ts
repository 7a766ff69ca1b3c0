import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import { type Caller, meets } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { ownWebhooks, visibleWebhooks } from './access.ts'

export type WebhookRow = {
  orgId: string
  id: string
  spaceId: string | null
  url: string
  eventTypes: string[]
  isActive: boolean
  secretEnvelope: Buffer
}

/** Locks an endpoint that the caller sees, and says whether they run it or may only switch it off or delete it. */
export async function lockWebhook(caller: Caller, id: string): Promise<{ webhook: WebhookRow; runs: boolean }> {
  const { orgId } = caller
  const [webhook] = meets('standing', caller)
    ? await sql<WebhookRow>`
        SELECT org_id AS "orgId", id, space_id AS "spaceId", url, event_types AS "eventTypes",
          is_active AS "isActive", secret_envelope AS "secretEnvelope"
        FROM platform.webhooks WHERE org_id = ${orgId} AND id = ${id} FOR NO KEY UPDATE`
    : []
  if (!webhook || !(await isAmong(orgId, id, visibleWebhooks(caller)))) throw new NotFoundError('id')
  return { webhook, runs: await isAmong(orgId, id, ownWebhooks(caller)) }
}

/** The same for what only those who run it may do. */
export async function lockOwnWebhook(caller: Caller, id: string): Promise<WebhookRow> {
  const { webhook, runs } = await lockWebhook(caller, id)
  if (!runs) throw new ForbiddenError('Only the owners of the space may do that.')
  return webhook
}

async function isAmong(orgId: string, id: string, where: object): Promise<boolean> {
  return (await prisma.webhook.count({ where: { AND: [{ orgId, id }, where] } })) > 0
}

/** What its events are about. */
export const aboutWebhook = ({ id, spaceId }: Pick<WebhookRow, 'id' | 'spaceId'>) => ({
  target: { kind: 'Webhook', id } as const,
  spaceId,
})

export const scopeOfWebhook = ({ spaceId }: Pick<WebhookRow, 'spaceId'>) => (spaceId === null ? 'org' : 'space')
