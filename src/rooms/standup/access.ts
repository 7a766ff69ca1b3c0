import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { isHost } from '../room/access.ts'
import { RoomEndedError, WrongPhaseError } from '../room/errors.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { isStandup, type StandupRoom } from './standup-room.ts'

type OpenPhase = 'gather' | 'speak'

/** A standup that is not done, in one of these phases (ROOM-5). */
export function requirePhase(room: LockedRoom, ...phases: readonly OpenPhase[]): asserts room is StandupRoom {
  if (room.endedAt !== null) throw new RoomEndedError()
  if (!isStandup(room) || !phases.includes(room.phase as OpenPhase)) throw new WrongPhaseError(room.phase)
}

/** A standup in any phase, also done. */
export function requireStandup(room: LockedRoom): asserts room is StandupRoom {
  if (!isStandup(room)) throw new WrongPhaseError(room.phase)
}

/** Guests and members speak, spectators watch (ROOM-21, 91). */
export function requireSpeaker({ me }: LockedRoom): void {
  if (me.spectator) throw new ForbiddenError('Spectators watch and do not speak.')
}

/** A host, or somebody in what concerns their own turn; org viewers do nothing (ROOM-22). */
export function requireHostOrSelf(caller: UserCaller, room: LockedRoom, userId: string | null): void {
  if (isHost(caller, room) || (caller.userId === userId && !room.me.viewer)) return
  throw new ForbiddenError('Only the hosts of the room may do that, and everybody in what concerns them alone.')
}
