import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { invalidInput, NotFoundError } from '../../graphql/errors.ts'
import type { EntryColumns } from '../live/event-payloads.ts'
import { change, fact, noChange, type Step } from '../room/change.ts'
import { lockRoom } from '../room/lock-room.ts'
import { requireHostOrSelf, requirePhase } from './access.ts'
import { findEntry, putEntry } from './entry.ts'
import { speakerSkipped } from './events.ts'
import { orderStep } from './order.ts'
import type { EntryChange } from './save-entry.ts'
import type { StandupRoom } from './standup-room.ts'
import { advance } from './turn.ts'

type SkipSpeaker = { roomId: string; userId: string; skipped: boolean }

/**
 * Takes somebody's turn away or gives it back, before and while people speak (ROOM-95). Whoever speaks passes the turn on;
 * whoever comes back speaks after the others.
 */
export async function skipSpeaker(caller: UserCaller, { roomId, userId, skipped }: SkipSpeaker): Promise<EntryChange> {
  const room = await lockRoom(caller, roomId)
  requireHostOrSelf(caller, room, userId)
  requirePhase(room, 'gather', 'speak')
  const before = await findEntry(room, userId)
  if (before === null) await requireMaySpeak(room, userId)
  if ((before?.skipped ?? false) === skipped) return { ...noChange(room), userId }

  const entry = await putEntry(room, userId, { skipped })
  return { ...(await change(caller, room, await stepsFor(room, entry))), userId }
}

async function stepsFor(room: StandupRoom, entry: EntryColumns): Promise<Step[]> {
  const { userId, skipped } = entry
  const told = fact(speakerSkipped, { userId, skipped })
  if (entry.speakOrder === null) return [{ type: 'EntryChanged', payload: { entry }, fact: told }]
  if (!skipped && entry.spokenAt === null) await moveToEnd(room, userId)
  const steps = [await orderStep(room, told)]
  return room.currentSpeakerId === userId ? [...steps, ...(await advance(room, 'SKIP'))] : steps
}

async function moveToEnd({ orgId, id }: StandupRoom, userId: string): Promise<void> {
  await sql`
    UPDATE rooms.standup_entries SET speak_order = 1 + (
      SELECT max(speak_order) FROM rooms.standup_entries WHERE org_id = ${orgId} AND room_id = ${id})
    WHERE org_id = ${orgId} AND room_id = ${id} AND user_id = ${userId}`
}

/** Somebody without an entry: of the room, and no spectator (ROOM-6). */
async function requireMaySpeak({ id }: StandupRoom, userId: string): Promise<void> {
  const [person] = await sql<{ spectator: boolean }>`
    SELECT spectator FROM rooms.room_people(${id}) WHERE user_id = ${userId} AND (kind = 'member' OR can_vote)`
  if (!person) throw new NotFoundError('userId')
  if (person.spectator) throw invalidInput('userId', 'watches and does not speak')
}
