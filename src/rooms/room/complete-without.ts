import { sql } from '../../db/sql.ts'
import type { Actor } from '../../platform/index.ts'
import { revealIfComplete } from '../poker/reveal-if-complete.ts'
import { change } from './change.ts'
import { lockRoomAsSystem } from './lock-room.ts'

/**
 * Somebody is no longer there: the round that waited for nobody else is complete, and may reveal itself (ROOM-66, 73). In
 * an org that takes no writes people leave no such trace (ID-59).
 */
export async function completeWithout(actor: Actor, roomId: string): Promise<void> {
  const [waiting] = await sql`
    SELECT 1 FROM rooms.rooms
    WHERE org_id = ${actor.orgId} AND id = ${roomId} AND kind = 'poker' AND ended_at IS NULL AND NOT revealed
      AND current_story_id IS NOT NULL AND (config ->> 'autoReveal')::boolean
      AND (${actor.kind === 'system'}
        OR NOT EXISTS (SELECT FROM identity.orgs AS o WHERE o.id = rooms.org_id AND o.status <> 'active'))`
  const room = waiting && (await lockRoomAsSystem(actor.orgId, roomId))
  if (room) await change(actor, room, await revealIfComplete(room))
}
