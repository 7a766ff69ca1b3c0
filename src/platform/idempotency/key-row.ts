import { currentOperation, operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import { actorId, type Caller } from '../../graphql/caller.ts'
import type { Place } from '../../lib/envelope.ts'

const LEASE = '60 seconds'

/** One actor's use of one key. */
export type Slot = {
  readonly orgId: string
  readonly actorId: string
  /** Whose rows the operations on it reach; an admin key is nobody. */
  readonly userId: string | undefined
  readonly key: string
  readonly fingerprint: Buffer
  /** Milliseconds until the key is free again. */
  readonly ttl: number
}

export function slotOf(caller: Caller, use: Pick<Slot, 'key' | 'fingerprint' | 'ttl'>): Slot {
  return { orgId: caller.orgId, userId: caller.userId, actorId: actorId(caller), ...use }
}

export const placeOf = ({ orgId, actorId, key }: Slot): Place => ({
  orgId,
  table: 'platform.idempotency_keys',
  rowId: `${actorId}:${key}`,
  column: 'response_envelope',
})

/** What stands under a key. */
export type KeyRow = {
  sameRequest: boolean
  state: 'running' | 'done' | 'lost'
  /** Its run may still be going on. */
  leased: boolean
  committedFields: string[]
  response: Buffer | null
  statusCode: number | null
  headers: Record<string, string> | null
}

const within = <T>({ orgId, userId }: Slot, kind: 'read' | 'write', body: () => Promise<T>) =>
  operation(kind, { orgId, userId }, body)

/**
 * Takes the key for one run, in a transaction of its own (PLAT-51): one that is free, has expired, or whose run ended with
 * its lease and committed nothing. Of any number at once one gets it.
 */
export function claim(slot: Slot, holder: string): Promise<boolean> {
  const { orgId, actorId, key, fingerprint, ttl } = slot
  return within(slot, 'write', async () => {
    const claimed = await sql`
      INSERT INTO platform.idempotency_keys (org_id, actor_id, key, fingerprint, locked_by, locked_until, expires_at)
      VALUES (${orgId}, ${actorId}, ${key}, ${fingerprint}, ${holder}, now() + ${LEASE}::interval,
        now() + ${ttl}::float8 * interval '1 ms')
      ON CONFLICT DO NOTHING RETURNING 1`
    if (claimed.length > 0) return true
    const taken = await sql`
      UPDATE platform.idempotency_keys
      SET fingerprint = ${fingerprint}, state = 'running', locked_by = ${holder},
        locked_until = now() + ${LEASE}::interval, committed_fields = '{}', status_code = NULL,
        response_envelope = NULL, response_headers = NULL, created_at = now(),
        expires_at = now() + ${ttl}::float8 * interval '1 ms'
      WHERE org_id = ${orgId} AND actor_id = ${actorId} AND key = ${key}
        AND (state <> 'running' OR locked_until <= now())
        AND (expires_at <= now() OR (state = 'running' AND committed_fields = '{}' AND fingerprint = ${fingerprint}))
      RETURNING 1`
    return taken.length > 0
  })
}

/** What stands under the key now; undefined when it is free. */
export async function look(slot: Slot): Promise<KeyRow | undefined> {
  const { orgId, actorId, key, fingerprint } = slot
  const [row] = await within(
    slot,
    'read',
    () => sql<KeyRow>`
    SELECT fingerprint = ${fingerprint} AS "sameRequest", state, locked_until > now() AS leased,
      committed_fields AS "committedFields", response_envelope AS response, status_code AS "statusCode",
      response_headers AS headers
    FROM platform.idempotency_keys
    WHERE org_id = ${orgId} AND actor_id = ${actorId} AND key = ${key}
      AND (expires_at > now() OR (state = 'running' AND locked_until > now()))`,
  )
  return row
}

/** Keeps the lease while the run goes on. */
export function renew(slot: Slot, holder: string): Promise<unknown> {
  const { orgId, actorId, key } = slot
  return within(
    slot,
    'write',
    () => sql`
    UPDATE platform.idempotency_keys SET locked_until = now() + ${LEASE}::interval
    WHERE org_id = ${orgId} AND actor_id = ${actorId} AND key = ${key} AND locked_by = ${holder} AND state = 'running'`,
  )
}

const MARK = `
  UPDATE platform.idempotency_keys SET committed_fields = array_append(array_remove(committed_fields, $5), $5)
  WHERE org_id = $1 AND actor_id = $2 AND key = $3 AND locked_by = $4 AND state = 'running' RETURNING 1`

/**
 * Marks a field as committed, in the operation that commits it. False when the key has gone to another run, which this one
 * must not take effect beside. The field may have gone over to another org or person, as when it signs in.
 */
export async function mark(slot: Slot, holder: string, field: string): Promise<boolean> {
  const { orgId, actorId, userId, key } = slot
  const running = currentOperation()
  const statement = { text: MARK, values: [orgId, actorId, key, holder, field] }
  const isOwn = running.scope.orgId === orgId && running.scope.userId === userId
  const { rowCount } = await (isOwn ? running.query(statement) : running.queryFor({ orgId, userId }, statement))
  return rowCount === 1
}

export type Finished = { response: Buffer; statusCode: number; headers: Record<string, string> }

/** Keeps the answer; without one, what is left is that there was one. */
export function finish(slot: Slot, holder: string, finished: Finished | null): Promise<unknown> {
  const { orgId, actorId, key } = slot
  const { response = null, statusCode = null, headers = null } = finished ?? {}
  return within(
    slot,
    'write',
    () => sql`
    UPDATE platform.idempotency_keys
    SET state = ${finished ? 'done' : 'lost'}, response_envelope = ${response}, status_code = ${statusCode},
      response_headers = ${headers && JSON.stringify(headers)}::jsonb
    WHERE org_id = ${orgId} AND actor_id = ${actorId} AND key = ${key} AND locked_by = ${holder} AND state = 'running'`,
  )
}

/** Frees the key of a run that committed nothing. False when it did. */
export async function release(slot: Slot, holder: string): Promise<boolean> {
  const { orgId, actorId, key } = slot
  const freed = await within(
    slot,
    'write',
    () => sql`
    UPDATE platform.idempotency_keys SET locked_until = now(), expires_at = now()
    WHERE org_id = ${orgId} AND actor_id = ${actorId} AND key = ${key} AND locked_by = ${holder}
      AND state = 'running' AND committed_fields = '{}'
    RETURNING 1`,
  )
  return freed.length > 0
}
