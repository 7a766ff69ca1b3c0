import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { change, fact, type RoomChange, type Step } from '../room/change.ts'
import { lockRoom, requireHost } from '../room/lock-room.ts'
import { requirePhase } from './access.ts'
import { standupStarted } from './events.ts'
import { readOrder } from './order.ts'
import type { SpeakingOrder, StandupRoom } from './standup-room.ts'
import { nextSpeaker, turnStep } from './turn.ts'

type StartStandup = { roomId: string; order: SpeakingOrder }

/** Begins the speaking: fixes who speaks in which order, and gives the first one not skipped the turn (ROOM-93). */
export async function startStandup(caller: UserCaller, { roomId, order: by }: StartStandup): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requirePhase(room, 'gather')

  await storeOrder(room, by)
  const order = await readOrder(room)
  const speakerId = await nextSpeaker(room)
  const steps: Step[] = [
    {
      type: 'RoomPhaseChanged',
      payload: { phase: 'speak', endedAt: null },
      set: { phase: 'speak' },
      fact: fact(standupStarted, { order: by, people: order.length, speakerId }),
    },
    { type: 'SpeakingStarted', payload: { order } },
  ]
  if (speakerId !== null) steps.push(await turnStep(room, { speakerId, previousId: null, reason: 'NEXT' }))
  return change(caller, room, steps)
}

/**
 * In the order are the participants who are present and no spectators, and everybody of the room with an answered entry;
 * who has no entry gets a blank one. By when they came, or as chance has it.
 */
async function storeOrder({ orgId, id }: StandupRoom, by: SpeakingOrder): Promise<void> {
  await sql`
    INSERT INTO rooms.standup_entries (org_id, room_id, user_id, speak_order)
    SELECT ${orgId}::uuid, ${id}::uuid, who.user_id, row_number() OVER (
      ORDER BY CASE WHEN ${by === 'SHUFFLED'}::boolean THEN random() END, coalesce(p.joined_at, e.created_at), who.user_id)
    FROM rooms.room_people(${id}) AS who
    LEFT JOIN rooms.room_participants AS p
      ON p.org_id = ${orgId} AND p.room_id = ${id} AND p.user_id = who.user_id
    LEFT JOIN rooms.standup_entries AS e
      ON e.org_id = ${orgId} AND e.room_id = ${id} AND e.user_id = who.user_id
    WHERE (who.kind = 'member' OR who.can_vote) AND (
      who.present AND NOT who.spectator AND p.user_id IS NOT NULL
      OR btrim(e.yesterday || e.today || e.blockers) <> '')
    ON CONFLICT (org_id, room_id, user_id) DO UPDATE SET speak_order = excluded.speak_order`
}
