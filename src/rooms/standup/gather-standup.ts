import type { UserCaller } from '../../graphql/caller.ts'
import { change, fact, noChange, type RoomChange } from '../room/change.ts'
import { lockRoom, requireHost } from '../room/lock-room.ts'
import { requirePhase } from './access.ts'
import { standupGathered } from './events.ts'
import { clearOrder } from './order.ts'
import { NO_SPEAKER, turnTimerStoppedStep } from './turn.ts'

/** Goes back from speaking to gathering: nobody has the turn, and nobody has spoken (ROOM-97). */
export async function gatherStandup(caller: UserCaller, { roomId }: { roomId: string }): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requirePhase(room, 'gather', 'speak')
  if (room.phase === 'gather') return noChange(room)

  await clearOrder(room)
  return change(caller, room, [
    ...turnTimerStoppedStep(room),
    {
      type: 'RoomPhaseChanged',
      payload: { phase: 'gather', endedAt: null },
      set: { phase: 'gather', ...NO_SPEAKER },
      fact: fact(standupGathered, {}),
    },
  ])
}
