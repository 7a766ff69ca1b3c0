import { sqlOne } from '../../db/sql.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import type { RoomSlot } from '../schedule/slot-of-room.ts'

/** How many could have answered, and how many did. No figure is about a person. */
export type StandupFigures = { eligible: number; answered: number }

/**
 * Of the members of the space who are no spectators, and on the day of a scheduled standup not away: how many there are,
 * and how many have an answered entry. Who says only afterwards that they were away counts (ROOM-133).
 */
export async function standupFigures(
  { orgId, id, spaceId }: Pick<LockedRoom, 'orgId' | 'id' | 'spaceId'>,
  slot: RoomSlot | null,
): Promise<StandupFigures> {
  const day = slot?.date ?? null
  return sqlOne<StandupFigures>`
    SELECT count(*)::integer AS eligible,
      (count(*) FILTER (WHERE btrim(e.yesterday || e.today || e.blockers) <> ''))::integer AS answered
    FROM rooms.room_people(${id}) AS who
    LEFT JOIN rooms.standup_entries AS e ON e.org_id = ${orgId} AND e.room_id = ${id} AND e.user_id = who.user_id
    WHERE who.kind = 'member' AND NOT who.spectator AND NOT EXISTS (
      SELECT FROM rooms.away_on(${spaceId}, ${day}::date, rooms.day_end(${day}::date, ${slot?.timezone})) AS away
      WHERE away.user_id = who.user_id)`
}
