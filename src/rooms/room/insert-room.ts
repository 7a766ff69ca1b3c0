import { sql } from '../../db/sql.ts'
import { firstPhase } from './first-phase.ts'

export type InsertRoom = {
  readonly orgId: string
  readonly roomId: string
  readonly spaceId: string
  readonly kind: string
  readonly title: string
  /** Of the shape that its kind has. */
  readonly config: object
  readonly facilitatorId: string
  /** Null for the server itself. */
  readonly createdBy: string | null
  readonly closesAt?: string | null
  /** Of a plugin's kind, what it begins with. */
  readonly state?: object
}

/** A room at its beginning; whoever leads it counts as seen now (ROOM-41). */
export async function insertRoom(room: InsertRoom): Promise<void> {
  const { orgId, roomId, spaceId, kind, title, config, facilitatorId, createdBy, closesAt = null, state = {} } = room
  const phase = await firstPhase(orgId, kind)
  await sql`
    INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, config, phase, facilitator_id, facilitator_seen_at,
      created_by, closes_at, state)
    VALUES (${orgId}, ${roomId}, ${spaceId}, ${kind}, ${title}, ${JSON.stringify(config)}::jsonb, ${phase},
      ${facilitatorId}, clock_timestamp(), ${createdBy}, ${closesAt}, ${JSON.stringify(state)}::jsonb)`
}
