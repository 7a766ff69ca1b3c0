import { sql } from '../../db/sql.ts'
import { type Actor, type EventType, record } from '../../platform/index.ts'
import { type Departure, departFromRooms } from '../room/depart.ts'

/**
 * Ends somebody's membership of spaces, with all that hangs on it, in the transaction that departs them (ROOM-23). One
 * fact a membership; nothing where there was none.
 */
export async function depart<P extends object>(
  actor: Actor,
  departure: Departure,
  event: { type: EventType<P>; payload: NoInfer<P> },
): Promise<void> {
  const { orgId, spaceIds, userId } = departure
  const ended = await sql<{ space_id: string }>`
    DELETE FROM rooms.space_members
    WHERE org_id = ${orgId} AND space_id = ANY (${spaceIds}::uuid[]) AND user_id = ${userId} RETURNING space_id`
  for (const { space_id: spaceId } of ended) {
    await record(actor, event.type, { target: { kind: 'User', id: userId }, spaceId, payload: event.payload })
  }
  await departFromRooms(actor, departure)
}
