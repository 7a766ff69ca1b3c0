import { prisma } from '../../db/prisma.ts'
import { sqlText } from '../../db/sql.ts'
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

const READ = `
  SELECT org_id AS "orgId", id, space_id AS "spaceId", url, event_types AS "eventTypes", is_active AS "isActive",
    secret_envelope AS "secretEnvelope"
  FROM platform.webhooks WHERE org_id = $1 AND id = $2`

/** `runs`: the endpoint is the caller's; else they may only switch it off or delete it (ID-6). */
type Found = { webhook: WebhookRow; runs: boolean }

/** Locks an endpoint that the caller sees. */
export const lockWebhook = (caller: Caller, id: string): Promise<Found> => find(caller, id, `${READ} FOR NO KEY UPDATE`)

/** The same for what only those who run it may do. */
export const lockOwnWebhook = async (caller: Caller, id: string): Promise<WebhookRow> =>
  ownOf(await lockWebhook(caller, id))

/** And for a look before something is done outside the database. */
export const readOwnWebhook = async (caller: Caller, id: string): Promise<WebhookRow> =>
  ownOf(await find(caller, id, READ))

async function find(caller: Caller, id: string, text: string): Promise<Found> {
  const { orgId } = caller
  const [webhook] = meets('standing', caller) ? await sqlText<WebhookRow>(text, [orgId, id]) : []
  if (!webhook || !(await isAmong(orgId, id, visibleWebhooks(caller)))) throw new NotFoundError('id')
  return { webhook, runs: await isAmong(orgId, id, ownWebhooks(caller)) }
}

function ownOf({ webhook, runs }: Found): WebhookRow {
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
