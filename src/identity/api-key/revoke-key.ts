import { sql } from '../../db/sql.ts'
import { type Actor, record } from '../../platform/index.ts'
import { requireMayChange } from './access.ts'
import { apiKeyRevoked } from './events.ts'
import { forgetKeysAtCommit } from './known-keys.ts'
import { lockKey } from './lock-key.ts'

/** Ends a key for ever, its grace too (ID-54). Again, it does nothing. */
export async function revokeKey(actor: Actor, { id }: { id: string }): Promise<{ keyId: string }> {
  const key = await lockKey(actor, id)
  requireMayChange(actor, key)
  if (key.revoked) return { keyId: id }

  const by = actor.kind === 'session' ? actor.userId : null
  await sql`
    UPDATE identity.api_keys SET revoked_at = now(), revoked_by = ${by}
    WHERE org_id = ${actor.orgId} AND id = ${id}`
  await record(actor, apiKeyRevoked, { target: { kind: 'ApiKey', id }, payload: { prefix: key.prefix } })
  forgetKeysAtCommit(actor.orgId)
  return { keyId: id }
}
