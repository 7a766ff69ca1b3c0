import { sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { invalidInput } from '../../graphql/errors.ts'
import { change, type RoomChange } from '../room/change.ts'
import { lockRoom, requireHost, requireOpen } from '../room/lock-room.ts'
import { timerStep } from './steps.ts'
import type { TimerEnd } from './timer.ts'

type TimerStart = { roomId: string; seconds: number; onEnd?: TimerEnd | undefined }

/** Starts the room's timer, by the database's clock; one that runs is replaced (ROOM-80). */
export async function startTimer(
  caller: UserCaller,
  { roomId, seconds, onEnd = 'none' }: TimerStart,
): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireOpen(room)
  if (onEnd === 'reveal' && room.kind !== 'poker') throw invalidInput('onEnd', 'reveals a round of poker only')

  const times = await sqlOne<{ startedAt: string; endsAt: string }>`
    SELECT now::text AS "startedAt", (now + make_interval(secs => ${seconds}))::text AS "endsAt"
    FROM clock_timestamp() AS now`
  return change(caller, room, [timerStep({ ...times, onEnd }, { change: 'started', seconds })])
}
