import { prisma } from '../../db/prisma.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { visibleRooms } from './access.ts'

/** For what needs no lock on the room: a room that the caller may not see is not there (ROOM-6). */
export async function requireVisibleRoom(caller: UserCaller, roomId: string): Promise<void> {
  const where = { orgId_id: { orgId: caller.orgId, id: roomId }, ...visibleRooms({ caller }) }
  if (!(await prisma.room.findUnique({ where, select: { id: true } }))) throw new NotFoundError('roomId')
}
