import { sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { clearOrder } from '../standup/order.ts'
import { isStandup } from '../standup/standup-room.ts'
import { requireHostOrOwner } from './access.ts'
import { change, fact, noChange, type RoomChange } from './change.ts'
import { roomReopened } from './events.ts'
import { firstPhase } from './first-phase.ts'
import { lockRoom } from './lock-room.ts'

/** Lets a room that has ended go on, with the story that was on the table, or from the gathering anew (ROOM-33). */
export async function reopenRoom(caller: UserCaller, { roomId }: { roomId: string }): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHostOrOwner(caller, room)
  if (room.endedAt === null) return noChange(room)

  const phase = await firstPhase(room.orgId, room.kind)
  const { past } = await sqlOne<{ past: boolean }>`
    SELECT coalesce(${room.closesAt}::timestamptz <= rooms.clock(), false) AS past`
  if (isStandup(room)) await clearOrder(room)
  return change(caller, room, [
    {
      type: 'RoomPhaseChanged',
      payload: { phase, endedAt: null },
      set: { phase, ended_at: null, ...(past && { closes_at: null }) },
      fact: fact(roomReopened, {}),
    },
  ])
}
