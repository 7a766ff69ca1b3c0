import type { UserCaller } from '../../graphql/caller.ts'
import { ConflictError, NotFoundError } from '../../graphql/errors.ts'
import { change, noChange, type RoomChange } from '../room/change.ts'
import { lockRoom } from '../room/lock-room.ts'
import { requireHostOrSelf, requirePhase } from './access.ts'
import { findEntry } from './entry.ts'
import { advance, nextSpeaker } from './turn.ts'

type NextSpeaker = { roomId: string; expectedSpeakerId?: string | null | undefined }

/**
 * Ends the turn of whoever is expected to have it; a double click, which expects somebody else, skips nobody (ROOM-94).
 * After the last one nobody has the turn, until a host gives it to somebody who came later.
 */
export async function passTurn(
  caller: UserCaller,
  { roomId, expectedSpeakerId = null }: NextSpeaker,
): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requirePhase(room, 'speak')
  if (room.currentSpeakerId !== expectedSpeakerId) {
    if (caller.userId !== expectedSpeakerId) requireHostOrSelf(caller, room, room.currentSpeakerId)
    if (expectedSpeakerId !== null && !(await findEntry(room, expectedSpeakerId))) {
      throw new NotFoundError('expectedSpeakerId')
    }
    throw new ConflictError('Somebody else has the turn by now.')
  }
  requireHostOrSelf(caller, room, expectedSpeakerId)

  if (room.currentSpeakerId === null && (await nextSpeaker(room)) === null) return noChange(room)
  return change(caller, room, await advance(room, 'NEXT'))
}
