import { sql, sqlOne } from '../../db/sql.ts'
import { KEY_SCOPES, type KeyScope } from '../../graphql/caller.ts'
import { ConflictError, ForbiddenError, invalidInput, LimitReachedError, NotFoundError } from '../../graphql/errors.ts'
import { type Actor, record } from '../../platform/index.ts'
import { requireMayChange } from './access.ts'
import { apiKeyCreated } from './events.ts'
import { type MadeKey, makeKey } from './make-key.ts'
import type { KeyMode } from './secret.ts'

const LIVE_MAX = 10

type NewKey = {
  agentId?: string | undefined
  admin?: boolean | undefined
  name: string
  mode?: KeyMode | undefined
  scopes?: readonly KeyScope[] | undefined
  expiresAt?: string | undefined
}

/** Makes a key of an agent, or an admin key (ID-52). */
export async function createKey(
  actor: Actor,
  { agentId: ofAgent, admin = false, name, mode = 'live', scopes: asked = [], expiresAt }: NewKey,
): Promise<MadeKey> {
  const agentId = ofAgent ?? null
  if ((agentId === null) !== admin) throw invalidInput('agentId', 'either an agent or admin: true must be given')
  requireMayChange(actor, { agentId })
  const scopes = scopesOf(asked, admin)
  await holdOwner(actor, agentId)
  await requireFuture(expiresAt)
  await requireRoom(actor.orgId, agentId, name)

  const { keyId, key, prefix } = await makeKey(actor, { agentId, name, mode, scopes, expiresAt: expiresAt ?? null })
  await record(actor, apiKeyCreated, {
    target: { kind: 'ApiKey', id: keyId },
    payload: { agentId, prefix, mode, scopes: [...scopes] },
  })
  return { keyId, key }
}

/** In one order, none twice. */
function scopesOf(asked: readonly KeyScope[], admin: boolean): readonly KeyScope[] {
  if (admin) {
    if (asked.some((scope) => scope !== 'admin')) throw invalidInput('scopes', 'an admin key has the scope ADMIN alone')
    return ['admin']
  }
  if (asked.length === 0) throw invalidInput('scopes', 'an agent’s key has at least one')
  if (asked.includes('admin')) throw invalidInput('scopes', 'ADMIN is for admin keys')
  return KEY_SCOPES.filter((scope) => asked.includes(scope))
}

/** The row whose keys are counted: whoever makes another key of it waits until the commit. */
async function holdOwner({ orgId }: Actor, agentId: string | null): Promise<void> {
  if (agentId === null) {
    await sql`SELECT FROM identity.orgs WHERE id = ${orgId} FOR NO KEY UPDATE`
    return
  }
  const [agent] = await sql<{ kind: string }>`
    SELECT kind FROM identity.agents WHERE org_id = ${orgId} AND id = ${agentId} FOR NO KEY UPDATE`
  if (!agent) throw new NotFoundError('agentId')
  if (agent.kind === 'system') throw new ForbiddenError('The system’s own agent takes no keys.')
}

async function requireFuture(expiresAt: string | undefined): Promise<void> {
  if (expiresAt === undefined) return
  const { future } = await sqlOne<{ future: boolean }>`
    SELECT ${expiresAt}::timestamptz > clock_timestamp() AS future`
  if (!future) throw invalidInput('expiresAt', 'must lie in the future')
}

async function requireRoom(orgId: string, agentId: string | null, name: string): Promise<void> {
  const { live, taken } = await sqlOne<{ live: number; taken: boolean }>`
    SELECT count(*)::integer AS live, coalesce(bool_or(name = ${name}), false) AS taken FROM identity.api_keys
    WHERE org_id = ${orgId} AND agent_id IS NOT DISTINCT FROM ${agentId}::uuid
      AND revoked_at IS NULL AND rotated_at IS NULL`
  if (taken) throw new ConflictError('A live key has that name.')
  if (live >= LIVE_MAX) throw new LimitReachedError(LIVE_MAX)
}
