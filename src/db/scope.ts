import { isUuid } from '../lib/uuid.ts'
import { type HintOutlet, poolOptions } from './pool.ts'

/**
 * What an operation may do (PLAT-4): `read` is one snapshot, `write` one transaction of a root mutation field or a unit
 * of queued work, `preauth` runs before the org is known, `sweep` claims and prunes across orgs.
 */
export type OperationKind = 'read' | 'write' | 'preauth' | 'sweep'

/** Whose rows an operation reaches. Absent ids mean: no such setting, so row security shows nothing that needs it. */
export type Scope = {
  orgId?: string | undefined
  userId?: string | undefined
  roomId?: string | undefined
  /** The request it is done for: no setting of the database, facts are recorded under it (PLAT-65). */
  requestId?: string | undefined
}

const IDLE_IN_TRANSACTION = 10_000
const LOCK_TIMEOUT = 5_000

export function beginning(kind: OperationKind): string {
  return kind === 'read'
    ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
    : 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'
}

export const HINTS = 'moothall.hints'
/** The first line of what `platform.send_hint` collects into. */
const HINTS_OPEN = 'collect'

/** Sent with BEGIN: set for the transaction alone, so that nothing is left on the connection. */
export function settings({ orgId, userId, roomId }: Scope, hints: HintOutlet | undefined): string {
  const values: [string, string][] = [
    ['TimeZone', 'UTC'], // Prisma reads timestamps in the session's zone
    ['statement_timeout', String(poolOptions().statementTimeout)],
    ['idle_in_transaction_session_timeout', String(IDLE_IN_TRANSACTION)],
    ['lock_timeout', String(LOCK_TIMEOUT)],
  ]
  for (const [name, id] of [
    ['org_id', orgId],
    ['user_id', userId],
    ['room_id', roomId],
  ] as const) {
    if (id === undefined) continue
    if (!isUuid(id)) throw new TypeError(`moothall.${name} takes a UUID`)
    values.push([`moothall.${name}`, id])
  }
  if (hints) values.push([HINTS, `${HINTS_OPEN}\n`])
  return `SELECT ${values.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}`
}

/** Both ids, the absent one as none. */
export function idSettings(scope: Pick<Scope, 'orgId' | 'userId'>): string {
  const setting = (name: string, id = '') => {
    if (id !== '' && !isUuid(id)) throw new TypeError(`moothall.${name} takes a UUID`)
    return `set_config('moothall.${name}', '${id}', true)`
  }
  return `${setting('org_id', scope.orgId)}, ${setting('user_id', scope.userId)}`
}
