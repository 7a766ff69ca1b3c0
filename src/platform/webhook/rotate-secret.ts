import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { scopeOf } from '../../graphql/context.ts'
import { ConflictError } from '../../graphql/errors.ts'
import { record } from '../audit/record.ts'
import { webhookSecretRotated } from './events.ts'
import { aboutWebhook, lockOwnWebhook, readOwnWebhook } from './lock-webhook.ts'
import { newSecret, seal, unseal } from './secret.ts'

type RotateSecret = { id: string; graceHours?: number | undefined }

/**
 * Gives an endpoint another secret; both sign while the old one is good (PLAT-37). An envelope opens only where it was put,
 * so the old secret is sealed anew for its other column, between two operations: a key service may have to be asked.
 */
export async function rotateSecret(
  caller: Caller,
  { id, graceHours = 24 }: RotateSecret,
): Promise<{ webhookId: string; secret: string }> {
  const before = await operation('read', scopeOf(caller), () => readOwnWebhook(caller, id))
  const secret = newSecret()
  const { envelope, hint, kekId } = await seal(before, 'secret_envelope', secret)
  const old = await unseal(before, 'secret_envelope', before.secretEnvelope)
  const previous = graceHours > 0 ? (await seal(before, 'previous_secret_envelope', old)).envelope : null

  await operation('write', scopeOf(caller), async () => {
    const webhook = await lockOwnWebhook(caller, id)
    const rotated = await sql`
      UPDATE platform.webhooks
      SET secret_envelope = ${envelope}, secret_hint = ${hint}, kek_id = ${kekId}, previous_secret_envelope = ${previous},
        previous_secret_until = CASE WHEN ${graceHours}::integer > 0 THEN now() + make_interval(hours => ${graceHours}::integer) END,
        updated_by = ${caller.userId}
      WHERE org_id = ${webhook.orgId} AND id = ${id} AND secret_envelope = ${before.secretEnvelope} RETURNING 1`
    if (rotated.length === 0) throw new ConflictError()
    await record(caller, webhookSecretRotated, { ...aboutWebhook(webhook), payload: { graceHours } })
  })
  return { webhookId: id, secret }
}
