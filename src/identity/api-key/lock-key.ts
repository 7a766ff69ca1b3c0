import { sql } from '../../db/sql.ts'
import type { KeyScope } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import type { Actor } from '../../platform/index.ts'
import type { KeyMode } from './secret.ts'

/** A key's row as it is under its lock. */
export type LockedKey = {
  readonly agentId: string | null
  readonly name: string
  readonly mode: KeyMode
  readonly prefix: string
  readonly scopes: KeyScope[]
  /** With its microseconds. */
  readonly expiresAt: string | null
  readonly rotated: boolean
  readonly revoked: boolean
  readonly expired: boolean
}

/** The key that a mutation is about to end: nobody else does until the commit. */
export async function lockKey({ orgId }: Actor, id: string): Promise<LockedKey> {
  const [key] = await sql<LockedKey>`
    SELECT agent_id AS "agentId", name, mode, prefix, scopes, expires_at::text AS "expiresAt",
      rotated_at IS NOT NULL AS rotated, revoked_at IS NOT NULL AS revoked,
      coalesce(expires_at <= clock_timestamp(), false) AS expired
    FROM identity.api_keys WHERE org_id = ${orgId} AND id = ${id} FOR NO KEY UPDATE`
  if (!key) throw new NotFoundError('id')
  return key
}
