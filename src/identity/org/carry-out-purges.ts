import { operation } from '../../db/operation.ts'
import { sql, sqlOne } from '../../db/sql.ts'
import { record } from '../../platform/index.ts'
import type { Unit } from '../../queue/sweeps.ts'
import { orgPurgeSteps, type PurgeStep } from '../hooks.ts'
import { orgPurged } from './events.ts'

const ORGS_A_PASS = 10
const ROWS_A_STEP = 5_000

/** The org is not being purged, or another process has just ended it. */
class NotPurgingError extends Error {
  override readonly name = 'NotPurgingError'
}

/** Goes on with every purge that is under way (ID-63). A process killed at any moment leaves it to the next one. */
export async function carryOutPurges(unit: Unit): Promise<void> {
  const orgs = await operation(
    'sweep',
    {},
    () => sql<{ orgId: string }>`SELECT org_id AS "orgId" FROM identity.claim_org_purges(${ORGS_A_PASS})`,
  )
  for (const { orgId } of orgs) await unit(() => carryOutPurge(orgId).then(() => {}))
}

/**
 * Deletes what goes with the org, then leaves its tombstone. Processes that are at one org take turns, step by step.
 * False when another one ended it, or there was nothing to purge.
 */
export async function carryOutPurge(orgId: string): Promise<boolean> {
  try {
    // What an open transaction wrote after its table was done is found at the end, and the tables are gone through again.
    do await deleteRows(orgId)
    while (!(await leaveTombstone(orgId)))
    return true
  } catch (error) {
    if (error instanceof NotPurgingError) return false
    throw error
  }
}

async function deleteRows(orgId: string): Promise<void> {
  for (const step of [purgeOf(BEFORE), ...orgPurgeSteps(), purgeOf(AFTER)]) {
    while ((await step({ orgId, limit: ROWS_A_STEP })) > 0);
  }
}

/** Of platform and identity: what points at rows of the bodies above, and what those point at. */
const BEFORE = [
  'platform.webhook_attempts',
  'platform.webhook_deliveries',
  'platform.webhooks',
  'platform.tool_invocations',
  'platform.idempotency_keys',
]
const AFTER = [
  'identity.login_tokens',
  'identity.embed_handoffs',
  'identity.intent_nonces',
  'identity.agent_projects',
  'identity.api_keys',
  'identity.sessions',
  'identity.users',
  'identity.memberships',
  'platform.audit_events',
]

/** A step that empties these tables of the org's rows, each call a transaction of its own; 0 once nothing is left. */
export function purgeOf(tables: readonly string[]): (step: PurgeStep) => Promise<number> {
  return async ({ orgId, limit }) => {
    for (const table of tables) {
      const { gone } = await operation(
        'sweep',
        {},
        () =>
          sqlOne<{ gone: number | null }>`SELECT identity.maint_org_purge_step(${orgId}, ${table}, ${limit}) AS gone`,
      )
      if (gone === null) throw new NotPurgingError()
      if (gone > 0) return gone
    }
    return 0
  }
}

/** The last fact of the org, under the slug it had, and its end are one. */
function leaveTombstone(orgId: string): Promise<boolean> {
  return operation('write', { orgId }, async () => {
    await record({ kind: 'system', orgId }, orgPurged, { target: { kind: 'Org', id: orgId }, payload: {} })
    const { ended } = await sqlOne<{ ended: boolean }>`SELECT identity.maint_org_purge_end(${orgId}) AS ended`
    if (!ended) throw new NotEmptyError()
    return true
  }).catch((error: unknown) => {
    if (error instanceof NotEmptyError) return false
    throw error
  })
}

/** Rows are left, so neither the fact nor the end is to be. */
class NotEmptyError extends Error {
  override readonly name = 'NotEmptyError'
}
