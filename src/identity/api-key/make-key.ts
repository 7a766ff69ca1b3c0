import { sql } from '../../db/sql.ts'
import type { KeyScope } from '../../graphql/caller.ts'
import { newId } from '../../lib/type-id.ts'
import type { Actor } from '../../platform/index.ts'
import { type KeyMode, newSecret } from './secret.ts'

/** The id of a key, and the key itself, which exists nowhere else. */
export type MadeKey = { keyId: string; key: string }

type Key = {
  agentId: string | null
  name: string
  mode: KeyMode
  scopes: readonly KeyScope[]
  expiresAt: string | null
}

/** Writes a new key; the database counts the live ones. `keyId` where its id was told already. */
export async function makeKey(
  actor: Actor,
  { agentId, name, mode, scopes, expiresAt }: Key,
  keyId = newId(),
): Promise<MadeKey & { prefix: string }> {
  const { key, prefix, secretHash, pepperId } = newSecret(mode)
  const by = {
    userId: actor.kind === 'session' || actor.kind === 'agent' ? actor.userId : null,
    keyId: actor.kind === 'admin_key' ? actor.keyId : null,
  }
  await sql`
    INSERT INTO identity.api_keys (org_id, id, agent_id, name, mode, prefix, secret_hash, pepper_id, scopes, expires_at,
      created_by, created_by_key)
    VALUES (${actor.orgId}, ${keyId}, ${agentId}, ${name}, ${mode}, ${prefix}, ${secretHash}, ${pepperId}, ${scopes},
      ${expiresAt}, ${by.userId}, ${by.keyId})`
  return { keyId, key, prefix }
}
