import { sql } from '../../db/sql.ts'

type Use = { orgId: string; agentId: string; nonce: string; intentHash: Uint8Array; expiresAt: string }

/**
 * Spends an intent's nonce in the operation that acts on it: true for exactly one of any number of simultaneous uses. The
 * others wait for that one, and if it rolls back the nonce is unspent (ID-49, GATE-14).
 */
export async function useIntentNonce({ orgId, agentId, nonce, intentHash, expiresAt }: Use): Promise<boolean> {
  const spent = await sql`
    INSERT INTO identity.intent_nonces (org_id, agent_id, nonce, intent_hash, expires_at)
    VALUES (${orgId}, ${agentId}, ${nonce}, ${intentHash}, ${expiresAt})
    ON CONFLICT (org_id, agent_id, nonce) DO NOTHING RETURNING 1`
  return spent.length === 1
}
