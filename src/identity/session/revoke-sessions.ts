import { sql } from '../../db/sql.ts'
import type { Actor } from '../../platform/index.ts'
import { type EndedSession, recordRevoked } from './record-revoked.ts'

/** Ends a person's sessions that are active in the org; part of an operation that takes their standing. */
export async function revokeSessionsIn(actor: Actor, userId: string): Promise<void> {
  const ended = await sql<EndedSession>`
    UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'role'
    WHERE org_id = ${actor.orgId} AND user_id = ${userId} AND revoked_at IS NULL
    RETURNING id, user_id`
  await recordRevoked(actor, ended, 'role')
}
