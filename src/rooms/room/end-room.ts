import type { UserCaller } from '../../graphql/caller.ts'
import type { Actor } from '../../platform/index.ts'
import { closedFact } from '../standup/close.ts'
import { timerStoppedStep } from '../timer/steps.ts'
import { requireHostOrOwner } from './access.ts'
import { bothFacts, change, databaseNow, fact, noChange, type RoomChange, type Step } from './change.ts'
import { roomEnded } from './events.ts'
import { type LockedRoom, lockRoom } from './lock-room.ts'

/** Ends the room; what was decided in it stays (ROOM-33). */
export async function endRoom(caller: UserCaller, { roomId }: { roomId: string }): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHostOrOwner(caller, room)
  return room.endedAt === null ? end(caller, room) : noChange(room)
}

/** Ends an open room whoever says so, a host or the clock. */
export const end = async (actor: Actor, room: LockedRoom): Promise<RoomChange> =>
  change(actor, room, await endSteps(room))

/** What ends an open room. */
export async function endSteps(room: LockedRoom): Promise<Step[]> {
  const [endedAt, closed] = await Promise.all([databaseNow(), closedFact(room)])
  const told = fact(roomEnded, {})
  const ended: Step = {
    type: 'RoomPhaseChanged',
    payload: { phase: 'done', endedAt },
    set: {
      phase: 'done',
      ended_at: endedAt,
      current_speaker_id: null,
      speaker_started_at: null,
      ...(room.firstEndedAt === null && { first_ended_at: endedAt }),
    },
    fact: closed ? bothFacts(told, closed) : told,
  }
  return [...timerStoppedStep(room), ended]
}
