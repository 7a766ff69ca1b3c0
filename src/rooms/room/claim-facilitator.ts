import { sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { mayHost } from './access.ts'
import { change, noChange, type RoomChange } from './change.ts'
import { FacilitatorPresentError } from './errors.ts'
import { facilitatorStep } from './facilitator.ts'
import { holdMembershipOfRoom } from './hold-membership.ts'
import { lockRoom, requireOpen } from './lock-room.ts'

const PATIENCE_SECONDS = 60

/** Takes the lead of a room that nobody leads, or whose facilitator has given no sign of life for a minute (ROOM-42). */
export async function claimFacilitator(caller: UserCaller, { roomId }: { roomId: string }): Promise<RoomChange> {
  const [, room] = await Promise.all([holdMembershipOfRoom(caller, roomId), lockRoom(caller, roomId)])
  if (room.me.kind !== 'member' || !mayHost(caller)) throw new ForbiddenError('You cannot lead a room.')
  requireOpen(room)
  if (room.facilitatorId === caller.userId) return noChange(room)

  if (room.facilitatorId !== null) {
    const { seconds } = await sqlOne<{ seconds: number }>`
      SELECT coalesce(ceil(${PATIENCE_SECONDS} - extract(epoch FROM clock_timestamp() - facilitator_seen_at)), 0)::integer
        AS seconds
      FROM rooms.rooms WHERE org_id = ${room.orgId} AND id = ${room.id}`
    if (seconds > 0) throw new FacilitatorPresentError(seconds)
  }
  return change(caller, room, [facilitatorStep(room, caller.userId, 'CLAIM')])
}
