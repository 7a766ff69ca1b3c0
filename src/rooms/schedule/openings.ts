import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { queueOutcomes } from '../../lib/metrics.ts'
import type { LeasedWork } from '../../queue/leased-work.ts'
import { type DueStandup, openSlot } from './open-slot.ts'
import { postponeSlot } from './postpone-slot.ts'

const OPENINGS = 'standup_opening'
const LEASE = '60 seconds'

/** Opens the standups that are due. One leased schedule is one slot; a schedule that missed several has its turn for each. */
export const standupOpenings: LeasedWork<DueStandup> = {
  kind: OPENINGS,
  concurrency: 4,
  claim: claimDueStandups,
  work: open,
}

function claimDueStandups(worker: string, limit: number): Promise<DueStandup[]> {
  return operation(
    'sweep',
    {},
    () => sql<DueStandup>`
      SELECT org_id AS "orgId", schedule_id AS "scheduleId", space_id AS "spaceId", opens_at::text AS "opensAt"
      FROM rooms.claim_due_standups(${worker}, ${limit}, ${LEASE}::interval)`,
  )
}

/** An opening is whole or has not happened. What fails is tried again, until its window ends and it is missed (ROOM-124). */
async function open(due: DueStandup, worker: string): Promise<void> {
  try {
    await operation('write', { orgId: due.orgId }, () => openSlot(due))
    queueOutcomes.inc({ kind: OPENINGS, outcome: 'done' })
  } catch (error) {
    queueOutcomes.inc({ kind: OPENINGS, outcome: 'retry' })
    await operation('write', { orgId: due.orgId }, () => postponeSlot(due, worker))
    throw error
  }
}
