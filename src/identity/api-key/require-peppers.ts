import { ConfigError } from '../../config.ts'
import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { identitySettings } from '../settings.ts'

const GREATEST_ID = 32_767

/** Refuses to run without a pepper that keys which hold were hashed with: all of them would be refused (ID-56). */
export async function requirePeppers(): Promise<void> {
  const ids = identitySettings().keyPeppers.map(({ id }) => id)
  if (ids.some((id) => id > GREATEST_ID) || new Set(ids).size < ids.length) {
    throw new ConfigError(`MOOTHALL_KEY_PEPPERS must have ids up to ${GREATEST_ID}, none of them twice.`)
  }
  const used = await operation('sweep', {}, () => sql<{ id: number }>`SELECT identity.maint_key_peppers() AS id`)
  const missing = used.map(({ id }) => id).filter((id) => !ids.includes(id))
  if (missing.length === 0) return
  const names = missing.toSorted((a, b) => a - b).join(', ')
  throw new ConfigError(`MOOTHALL_KEY_PEPPERS lacks the pepper ${names}, which API keys still need.`)
}
