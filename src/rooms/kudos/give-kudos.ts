import { prisma } from '../../db/prisma.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, invalidInput, NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { change, fact } from '../room/change.ts'
import { holdMembershipsOfRoom } from '../room/hold-membership.ts'
import { type LockedRoom, lockRoom, requireOpen } from '../room/lock-room.ts'
import { findMembership, requireMember } from '../space/membership.ts'
import { kudosGiven } from './events.ts'
import type { KudosColumns } from './kudos.ts'

type GiveKudos = { spaceId: string; userId: string; text: string; roomId?: string | undefined }

/** Thanks another member; in a room of the space that is not done it is heard there, too (ROOM-109). */
export async function giveKudos(
  caller: UserCaller,
  { spaceId, userId: toUserId, text, roomId }: GiveKudos,
): Promise<{ kudosId: string }> {
  const { orgId, userId: fromUserId } = caller
  const room = roomId === undefined ? null : await lockRoomOf(caller, spaceId, { roomId, toUserId })
  const own = await requireMember(caller, spaceId, 'spaceId')
  if (own.orgRole === 'viewer') throw new ForbiddenError('Viewers of the org read and nothing else.')
  if (toUserId === fromUserId) throw invalidInput('userId', 'must be somebody else')
  if (!(await findMembership(orgId, spaceId, toUserId))) throw new NotFoundError('userId')
  if (room) requireOpen(room)

  const kudos: KudosColumns = await prisma.kudos.create({
    data: { orgId, spaceId, fromUserId, toUserId, text, roomId: room?.id ?? null },
  })
  const target = { kind: 'Kudos', id: kudos.id } as const
  const payload = { kudosId: kudos.id }
  if (room) {
    const given = fact(kudosGiven, payload, target)
    await change(caller, room, [{ type: 'KudosGiven', payload: { kudos }, audience: 'members', fact: given }])
  } else await record(caller, kudosGiven, { target, spaceId, spaceSlug: own.slug, payload })
  return { kudosId: kudos.id }
}

/** A room of another space is not there (ROOM-6). */
async function lockRoomOf(
  caller: UserCaller,
  spaceId: string,
  { roomId, toUserId }: { roomId: string; toUserId: string },
): Promise<LockedRoom> {
  const people = [caller.userId, toUserId]
  const [, room] = await Promise.all([holdMembershipsOfRoom(caller.orgId, roomId, people), lockRoom(caller, roomId)])
  if (room.spaceId !== spaceId) throw new NotFoundError('roomId')
  return room
}
