import { type Actor, record } from '../../platform/index.ts'
import { type RevokeReason, sessionRevoked } from './events.ts'

/** What an UPDATE that ends sessions returns. */
export type EndedSession = { id: string; user_id: string }

/** One event a session (PLAT-13). */
export async function recordRevoked(
  actor: Actor,
  sessions: readonly EndedSession[],
  reason: RevokeReason,
): Promise<void> {
  for (const { id, user_id: userId } of sessions) {
    await record(actor, sessionRevoked, { target: { kind: 'Session', id }, payload: { userId, reason } })
  }
}
