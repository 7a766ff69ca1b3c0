import { sqlOne } from '../../db/sql.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import type { LockedRoom } from '../room/lock-room.ts'

const STORIES_MAX = 500

/** How many stories a room has, and where the last one stands. */
export function shelfOf({ orgId, id }: LockedRoom): Promise<{ count: number; last: number | null }> {
  return sqlOne`
    SELECT count(*)::int AS count, max(position) AS last FROM rooms.stories WHERE org_id = ${orgId} AND room_id = ${id}`
}

/** A room holds so many stories (ROOM-58). */
export function requirePlaces(count: number, added: number): void {
  if (count + added > STORIES_MAX) throw new LimitReachedError(STORIES_MAX)
}
