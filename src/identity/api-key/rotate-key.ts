import { sql } from '../../db/sql.ts'
import { ConflictError } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { type Actor, record } from '../../platform/index.ts'
import { requireMayChange } from './access.ts'
import { apiKeyRotated } from './events.ts'
import { forgetKeysAtCommit } from './known-keys.ts'
import { lockKey } from './lock-key.ts'
import { type MadeKey, makeKey } from './make-key.ts'

type Rotation = { id: string; graceMinutes?: number | undefined }

/**
 * Replaces a key by one of the same name and scopes (ID-53). The old one goes on for the grace, or until its own end if
 * that is sooner; without grace it ends at once. Either way it is live no longer. Of two at once the second finds it rotated.
 */
export async function rotateKey(
  actor: Actor,
  { id, graceMinutes = 0 }: Rotation,
): Promise<MadeKey & { previousId: string }> {
  const old = await lockKey(actor, id)
  requireMayChange(actor, old)
  if (old.rotated || old.revoked || old.expired) throw new ConflictError('The key has ended or was replaced already.')

  const keyId = newId()
  await sql`
    UPDATE identity.api_keys SET rotated_at = now(), replaced_by = ${keyId},
      expires_at = least(expires_at, clock_timestamp() + ${graceMinutes} * interval '1 minute')
    WHERE org_id = ${actor.orgId} AND id = ${id}`
  const { key } = await makeKey(actor, old, keyId)
  await record(actor, apiKeyRotated, {
    target: { kind: 'ApiKey', id },
    payload: { prefix: old.prefix, replacedBy: keyId, graceMinutes },
  })
  forgetKeysAtCommit(actor.orgId)
  return { keyId, key, previousId: id }
}
