import { prisma } from '../../db/prisma.ts'
import type { Story } from '../../generated/prisma/client.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { type LockedRoom, lockRoom } from '../room/lock-room.ts'

/** A story of this very room, null when it has no such. */
export function findStory({ orgId, id: roomId }: LockedRoom, id: string): Promise<Story | null> {
  return prisma.story.findUnique({ where: { orgId_roomId_id: { orgId, roomId, id } } })
}

/**
 * Locks the room of a story and reads the story under the lock. A story that is gone, or of a room that the caller may not
 * see, is not there (ROOM-6).
 */
export async function lockRoomOfStory(caller: UserCaller, id: string): Promise<{ room: LockedRoom; story: Story }> {
  const { orgId } = caller
  const found = await prisma.story.findUnique({ where: { orgId_id: { orgId, id } }, select: { roomId: true } })
  if (!found) throw new NotFoundError('id')
  const room = await lockRoom(caller, found.roomId, 'id')
  const story = await findStory(room, id)
  if (!story) throw new NotFoundError('id')
  return { room, story }
}
