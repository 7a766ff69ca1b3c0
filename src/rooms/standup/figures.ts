import { sqlOne } from '../../db/sql.ts'
import type { LockedRoom } from '../room/lock-room.ts'

/** How many could have answered, and how many did. No figure is about a person. */
export type StandupFigures = { eligible: number; answered: number }

/** Of the members of the space who are no spectators: how many there are, and how many have an answered entry. */
export async function standupFigures({ orgId, id }: Pick<LockedRoom, 'orgId' | 'id'>): Promise<StandupFigures> {
  return sqlOne<StandupFigures>`
    SELECT count(*)::integer AS eligible,
      (count(*) FILTER (WHERE btrim(e.yesterday || e.today || e.blockers) <> ''))::integer AS answered
    FROM rooms.room_people(${id}) AS who
    LEFT JOIN rooms.standup_entries AS e ON e.org_id = ${orgId} AND e.room_id = ${id} AND e.user_id = who.user_id
    WHERE who.kind = 'member' AND NOT who.spectator`
}
