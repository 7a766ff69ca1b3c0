import { ForbiddenError } from '../../graphql/errors.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { requirePhase } from './access.ts'
import type { StandupRoom } from './standup-room.ts'

/** What members alone do in a standup that is not done: org viewers read, guests have no part in it (ROOM-22, 155). */
export function requireMemberOfOpenStandup(room: LockedRoom): asserts room is StandupRoom {
  requireWritingMember(room)
  requirePhase(room, 'gather', 'speak')
}

/** A member of the space who is no viewer of the org. */
export function requireWritingMember({ me }: LockedRoom): void {
  if (me.kind !== 'member' || me.viewer) throw new ForbiddenError('Only members of the space may do that.')
}
