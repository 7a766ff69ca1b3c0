import { operation } from '../../db/operation.ts'
import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import { type Caller, meets } from '../../graphql/caller.ts'
import { scopeOf } from '../../graphql/context.ts'
import { ConflictError, ForbiddenError, LimitReachedError } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../audit/record.ts'
import { requireEventTypes } from './event-types.ts'
import { webhookCreated } from './events.ts'
import { aboutWebhook, scopeOfWebhook } from './lock-webhook.ts'
import { requireReceiver } from './receiver.ts'
import { newSecret, seal } from './secret.ts'
import { spaceOwners } from './space-owners.ts'

const OF_AN_ORG = 20

type CreateWebhook = { url: string; eventTypes: string[]; spaceId?: string | undefined }

/**
 * Makes an endpoint (PLAT-35). Who may is settled before the address is looked up, so that nobody else learns what a name
 * stands for here, and once more with the change.
 */
export async function createWebhook(
  caller: Caller,
  { url, eventTypes, spaceId }: CreateWebhook,
): Promise<{ webhookId: string; secret: string }> {
  const { orgId } = caller
  const wanted = requireEventTypes(eventTypes)
  await operation('read', scopeOf(caller), () => requireMaker(caller, spaceId))
  const receiver = await requireReceiver(url)
  const [id, secret] = [newId(), newSecret()]
  const { envelope, hint, kekId } = await seal({ orgId, id }, 'secret_envelope', secret)

  await operation('write', scopeOf(caller), async () => {
    await requireMaker(caller, spaceId)
    await requireRoom(orgId, spaceId)
    await sql`
      INSERT INTO platform.webhooks (org_id, id, space_id, url, secret_envelope, secret_hint, kek_id, event_types,
        api_version, created_by)
      SELECT id, ${id}, ${spaceId}, ${receiver}, ${envelope}, ${hint}, ${kekId}, ${wanted}, api_version, ${caller.userId}
      FROM identity.orgs WHERE id = ${orgId}`
    const about = { id, spaceId: spaceId ?? null }
    await record(caller, webhookCreated, { ...aboutWebhook(about), payload: { scope: scopeOfWebhook(about) } })
  })
  return { webhookId: id, secret }
}

async function requireMaker(caller: Caller, spaceId: string | undefined): Promise<void> {
  if (spaceId !== undefined) return spaceOwners().require(caller, spaceId, 'spaceId')
  if (!meets('admin', caller)) throw new ForbiddenError('Only owners and admins of the org may do that.')
}

async function requireRoom(orgId: string, spaceId: string | undefined): Promise<void> {
  const there = await prisma.webhook.count({ where: { orgId, spaceId: spaceId ?? null } })
  if (spaceId !== undefined && there > 0) throw new ConflictError('The space has a webhook.')
  if (spaceId === undefined && there >= OF_AN_ORG) throw new LimitReachedError(OF_AN_ORG)
}
