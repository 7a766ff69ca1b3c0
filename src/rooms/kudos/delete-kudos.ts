import { prisma } from '../../db/prisma.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { change, fact } from '../room/change.ts'
import { type LockedRoom, lockRoom } from '../room/lock-room.ts'
import { requireMember } from '../space/membership.ts'
import { kudosDeleted } from './events.ts'

/** Takes one's own thanks back (ROOM-110). */
export async function deleteKudos(caller: UserCaller, { id }: { id: string }): Promise<{ kudosId: string }> {
  const { orgId, userId } = caller
  const where = { orgId_id: { orgId, id } }
  const found = await prisma.kudos.findUnique({ where })
  if (!found) throw new NotFoundError('id')
  const { slug } = await requireMember(caller, found.spaceId)
  if (found.fromUserId !== userId) throw new ForbiddenError('Only whoever gave it may take it back.')

  const { spaceId } = found
  const room = await lockRoomOf(caller, found)
  // Two at once: the second finds nothing to take back.
  const { count } = await prisma.kudos.deleteMany({ where: { orgId, id } })
  if (count === 0) throw new NotFoundError('id')
  const target = { kind: 'Kudos', id } as const
  const payload = { kudosId: id }
  if (room) {
    const deleted = fact(kudosDeleted, payload, target)
    await change(caller, room, [{ type: 'KudosRemoved', payload, audience: 'members', fact: deleted }])
  } else await record(caller, kudosDeleted, { target, spaceId, spaceSlug: slug, payload })
  return { kudosId: id }
}

/** Kudos outlive their room, also one that goes while this waits for it (ROOM-109). */
async function lockRoomOf(
  caller: UserCaller,
  { id, roomId }: { id: string; roomId: string | null },
): Promise<LockedRoom | null> {
  if (roomId === null) return null
  try {
    return await lockRoom(caller, roomId, 'id')
  } catch (error) {
    const now = await prisma.kudos.findUnique({ where: { orgId_id: { orgId: caller.orgId, id } } })
    if (!(error instanceof NotFoundError) || now?.roomId !== null) throw error
    return null
  }
}
