import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { change, fact, type RoomChange } from '../room/change.ts'
import { lockRoom } from '../room/lock-room.ts'
import { requireMemberOfOpenStandup } from '../standup/require-open-standup.ts'
import type { CommitmentColumns } from './commitment.ts'
import { commitmentAdded } from './events.ts'

const OPEN_MAX = 50

export type CommitmentChange = RoomChange & { readonly commitmentId: string }

/** The caller commits to something, in a standup that is not done (ROOM-100). */
export async function addCommitment(
  caller: UserCaller,
  { roomId, text }: { roomId: string; text: string },
): Promise<CommitmentChange> {
  const { orgId, userId } = caller
  const [, room] = await Promise.all([lockOwnMembership(caller, roomId), lockRoom(caller, roomId)])
  requireMemberOfOpenStandup(room)
  const open = await prisma.commitment.count({ where: { orgId, spaceId: room.spaceId, userId, closedAt: null } })
  if (open >= OPEN_MAX) throw new LimitReachedError(OPEN_MAX)

  const commitment: CommitmentColumns = await prisma.commitment.create({
    data: { orgId, spaceId: room.spaceId, userId, text, openedRoomId: room.id },
  })
  const { id, carried } = commitment
  const changed = await change(caller, room, [
    {
      type: 'CommitmentChanged',
      payload: { commitment },
      audience: 'members',
      fact: fact(commitmentAdded, { commitmentId: id, carried }, { kind: 'Commitment', id }),
    },
  ])
  return { ...changed, commitmentId: id }
}

/** Two standups of a space may go on at once: whoever commits in both meets here, before the rooms (ROOM-2). */
async function lockOwnMembership({ orgId, userId, standing }: UserCaller, roomId: string): Promise<void> {
  if (standing === 'GUEST') return
  await sql`
    SELECT FROM rooms.space_members AS m JOIN rooms.rooms AS r ON r.org_id = m.org_id AND r.space_id = m.space_id
    WHERE r.org_id = ${orgId} AND r.id = ${roomId} AND m.user_id = ${userId} FOR NO KEY UPDATE OF m`
}
