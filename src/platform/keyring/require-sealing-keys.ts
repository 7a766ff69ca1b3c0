import { ConfigError } from '../../config.ts'
import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { currentKeyring } from './keyring.ts'

/** Refuses to run without a key that sealed rows still need: what they hold could not be read (PLAT-72). */
export async function requireSealingKeys(): Promise<void> {
  const used = await operation(
    'sweep',
    {},
    () => sql<{ id: string }>`
    SELECT DISTINCT key_id AS id FROM platform.maint_sealing_keys() ORDER BY 1`,
  )
  const missing = used.map(({ id }) => id).filter((id) => !currentKeyring().find(id))
  if (missing.length === 0) return
  throw new ConfigError(
    `Sealed rows still need the key ${missing.join(', ')}, which MOOTHALL_ENCRYPTION_KEYS or MOOTHALL_KMS_KEY_ID must ` +
      'give; `moothall keys rewrap` seals them under the current one, and answers under idempotency keys expire.',
  )
}
