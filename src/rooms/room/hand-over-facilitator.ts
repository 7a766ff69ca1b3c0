import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { requireFacilitator } from './access.ts'
import { change, noChange, type RoomChange } from './change.ts'
import { facilitatorStep } from './facilitator.ts'
import { holdMembershipOfRoom } from './hold-membership.ts'
import { lockRoom, requireOpen } from './lock-room.ts'
import { personOfRoom } from './person-of-room.ts'

type HandOver = { roomId: string; userId: string }

/** Gives the lead to another member, at once; whoever gave it stays participant (ROOM-44). */
export async function handOverFacilitator(caller: UserCaller, { roomId, userId }: HandOver): Promise<RoomChange> {
  const [, room] = await Promise.all([holdMembershipOfRoom(caller, roomId, userId), lockRoom(caller, roomId)])
  requireFacilitator(caller, room)
  requireOpen(room)
  if (userId === caller.userId) return noChange(room)

  const person = await personOfRoom(room, userId)
  if (!person) throw new NotFoundError('userId')
  if (!person.mayHost) throw new ForbiddenError('They cannot lead a room.')
  return change(caller, room, [facilitatorStep(room, userId, 'HANDOVER')])
}
