import { sql, sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, LimitReachedError } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import { awaySaved } from './events.ts'
import { lockOwn } from './lock-own.ts'
import { type Range, requireRange } from './range.ts'

const RANGES_MAX = 50

/** Says that the caller is away on these days, in all spaces of the org (ROOM-130). */
export async function addAwayRange(caller: UserCaller, range: Range): Promise<{ rangeId: string }> {
  const { orgId, userId } = caller
  requireRange(range)
  await lockOwn(caller)
  await requireNoViewer(caller)
  const { count, same } = await sqlOne<{ count: number; same: string | null }>`
    SELECT count(*)::integer AS count,
      (array_agg(id) FILTER (WHERE starts_on = ${range.startsOn}::date AND ends_on = ${range.endsOn}::date))[1] AS same
    FROM rooms.standup_away WHERE org_id = ${orgId} AND user_id = ${userId}`
  if (same) return { rangeId: same }
  if (count >= RANGES_MAX) throw new LimitReachedError(RANGES_MAX)

  const rangeId = newId()
  await sql`
    INSERT INTO rooms.standup_away (org_id, id, user_id, starts_on, ends_on)
    VALUES (${orgId}, ${rangeId}, ${userId}, ${range.startsOn}, ${range.endsOn})`
  await record(caller, awaySaved, { privateUserId: userId, payload: {} })
  return { rangeId }
}

/** An org viewer creates nothing, through a meeting client neither (ROOM-22). */
async function requireNoViewer({ orgId, userId }: UserCaller): Promise<void> {
  const viewer = await sql`
    SELECT FROM identity.memberships
    WHERE org_id = ${orgId} AND user_id = ${userId} AND revoked_at IS NULL AND role = 'viewer'`
  if (viewer.length > 0) throw new ForbiddenError('Viewers of the org take part in no standup.')
}
