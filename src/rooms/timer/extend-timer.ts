import { sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ConflictError } from '../../graphql/errors.ts'
import { change, type RoomChange } from '../room/change.ts'
import { lockRoom, requireHost, requireOpen } from '../room/lock-room.ts'
import { timerStep } from './steps.ts'

/** Moves the timer's end, from now if it is past (ROOM-81). */
export async function extendTimer(
  caller: UserCaller,
  { roomId, seconds }: { roomId: string; seconds: number },
): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireOpen(room)
  const { timerStartedAt: startedAt, timerEndsAt, timerOnEnd: onEnd } = room
  if (startedAt === null) throw new ConflictError('No timer runs in the room.')

  const { endsAt } = await sqlOne<{ endsAt: string }>`
    SELECT (greatest(${timerEndsAt}::timestamptz, clock_timestamp()) + make_interval(secs => ${seconds}))::text
      AS "endsAt"`
  return change(caller, room, [timerStep({ startedAt, endsAt, onEnd }, { change: 'extended', seconds })])
}
