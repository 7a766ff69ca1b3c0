import { ForbiddenError } from '../../graphql/errors.ts'
import type { LockedRoom } from '../room/lock-room.ts'

/** Members add stories, org viewers and guests do not (ROOM-58). */
export function requireAuthor({ me }: LockedRoom): void {
  if (me.kind !== 'member' || me.viewer) throw new ForbiddenError()
}
