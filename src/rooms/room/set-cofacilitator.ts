import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, LimitReachedError, NotFoundError } from '../../graphql/errors.ts'
import { requireFacilitator } from './access.ts'
import { change, noChange, type RoomChange } from './change.ts'
import { cofacilitatorStep, countCofacilitators, markCofacilitator } from './cofacilitators.ts'
import { lockRoom, requireOpen } from './lock-room.ts'
import { personOfRoom } from './person-of-room.ts'

const COFACILITATORS_MAX = 5

type SetCofacilitator = { roomId: string; userId: string; on: boolean }

/** Lets a participant lead beside the facilitator, or no longer (ROOM-45). */
export async function setCofacilitator(
  caller: UserCaller,
  { roomId, userId, on }: SetCofacilitator,
): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireFacilitator(caller, room)
  requireOpen(room)

  const person = await personOfRoom(room, userId)
  if (!person?.isParticipant) throw new NotFoundError('userId')
  if (on && !person.mayHost) throw new ForbiddenError('They cannot lead a room.')
  if (person.cofacilitator === on) return noChange(room)
  if (on && (await countCofacilitators(room)) >= COFACILITATORS_MAX) throw new LimitReachedError(COFACILITATORS_MAX)

  await markCofacilitator(room, userId, on)
  return change(caller, room, [await cofacilitatorStep(room, userId, on)])
}
