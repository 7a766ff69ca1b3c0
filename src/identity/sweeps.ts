import { sqlOne } from '../db/sql.ts'
import { prune, type Sweep } from '../queue/sweeps.ts'
import { flushKeyUse } from './api-key/key-use.ts'
import { carryOutPurges } from './org/carry-out-purges.ts'
import { identitySettings } from './settings.ts'
import { finishErasures } from './user/erase-user.ts'

const ROWS_A_PASS = 5_000
const NONCES_A_PASS = 10_000

/** Removes sign-ins that ended more than 30 days ago; they opened nothing since (ID-20). */
export function pruneSessions(): Promise<number> {
  const { idle, max } = identitySettings().sessionLife
  return prune(
    ROWS_A_PASS,
    (bound) => sqlOne<{ removed: number }>`
        SELECT identity.maint_prune_identity(${bound},
          ${idle}::float8 * interval '1 ms', ${max}::float8 * interval '1 ms') AS removed`,
  )
}

/** Nonces of intents that ended more than two minutes ago (ID-49), the oldest first. */
export function pruneIntentNonces(): Promise<number> {
  return prune(
    NONCES_A_PASS,
    (bound) => sqlOne<{ removed: number }>`
        SELECT identity.maint_prune_intent_nonces(${bound}) AS removed`,
  )
}

export const identitySweeps: readonly Sweep[] = [
  { name: 'org_purge', every: 30_000, work: carryOutPurges },
  { name: 'erasures', every: 600_000, work: finishErasures },
  { name: 'identity_prune', every: 600_000, work: pruneSessions },
  { name: 'nonce_prune', every: 60_000, work: pruneIntentNonces },
  { name: 'key_last_used', every: 60_000, work: flushKeyUse },
]
