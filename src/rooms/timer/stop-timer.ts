import type { UserCaller } from '../../graphql/caller.ts'
import { change, fact, type RoomChange } from '../room/change.ts'
import { lockRoom, requireHost, requireOpen } from '../room/lock-room.ts'
import { timerSet } from './events.ts'
import { timerStoppedStep } from './steps.ts'

/** Stops the room's timer. Where none runs nothing changes. */
export async function stopTimer(caller: UserCaller, { roomId }: { roomId: string }): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireOpen(room)
  const told = fact(timerSet, { change: 'stopped', seconds: null, onEnd: room.timerOnEnd })
  return change(
    caller,
    room,
    timerStoppedStep(room).map((step) => ({ ...step, fact: told })),
  )
}
