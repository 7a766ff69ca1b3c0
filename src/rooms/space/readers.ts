import { prisma } from '../../db/prisma.ts'
import { hasScope, meets } from '../../graphql/caller.ts'
import { type Readers, registerPlace, registerSight } from '../../platform/index.ts'
import { visibleRooms } from '../room/access.ts'
import { visibleSpaces } from './access.ts'

/** What happens in a space and its rooms is for its members, of deleted rooms too (PLAT-15). */
const spaceReaders: Readers = (caller) =>
  meets('viewer', caller) && caller.kind !== 'admin_key' && hasScope('rooms:read', caller)
    ? { space: { members: { some: { userId: caller.userId } } } }
    : null

/** Where an event names the space too, that has decided, and holds when the room is gone. */
const roomReaders: Readers = (caller) => {
  const inSpace = spaceReaders(caller)
  return inSpace && { OR: [{ spaceId: { not: null } }, { room: inSpace as object }] }
}

registerPlace('spaceId', spaceReaders)
registerPlace('roomId', roomReaders)
registerSight('Space', { model: prisma.space, visible: visibleSpaces })
registerSight('Room', { model: prisma.room, visible: visibleRooms })
