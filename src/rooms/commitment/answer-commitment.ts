import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ConflictError, ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { change, databaseNow, type Fact, fact, noChange } from '../room/change.ts'
import { type LockedRoom, lockRoom } from '../room/lock-room.ts'
import { requireMemberOfOpenStandup } from '../standup/require-open-standup.ts'
import type { CommitmentChange } from './add-commitment.ts'
import type { CommitmentAnswer, CommitmentColumns } from './commitment.ts'
import { commitmentCarried, commitmentDropped, commitmentLanded, commitmentReopened } from './events.ts'

type AnswerCommitment = { id: string; roomId: string; answer: CommitmentAnswer }
type Answered = Pick<CommitmentColumns, 'closedRoomId' | 'carriedRoomId' | 'closedAt' | 'closedReason' | 'carried'>

/**
 * Says what became of one's own commitment, in a standup of the same space that is not done. A standup carries it once,
 * however often it is answered there (ROOM-102, 103); an answer may be changed where it was given (ROOM-104).
 */
export async function answerCommitment(
  caller: UserCaller,
  { id, roomId, answer }: AnswerCommitment,
): Promise<CommitmentChange> {
  const room = await lockRoom(caller, roomId)
  const before = await lockCommitment(room, id)
  if (!before) throw new NotFoundError('id')
  if (before.userId !== caller.userId) throw new ForbiddenError('Only whoever committed to it may answer.')
  requireMemberOfOpenStandup(room)
  if (before.closedAt !== null && before.closedRoomId !== room.id) {
    throw new ConflictError('It was closed in another standup.')
  }

  const after = await answered(before, room, answer)
  if (isSame(before, after)) return { ...noChange(room), commitmentId: id }
  const commitment: CommitmentColumns = await prisma.commitment.update({
    where: { orgId_id: { orgId: room.orgId, id } },
    data: after,
  })
  const changed = await change(caller, room, [
    { type: 'CommitmentChanged', payload: { commitment }, audience: 'members', fact: told(before, commitment) },
  ])
  return { ...changed, commitmentId: id }
}

/** Of the room's space; of another it is not there (ROOM-6). Two standups that answer at once take turns. */
async function lockCommitment({ orgId, spaceId }: LockedRoom, id: string): Promise<CommitmentColumns | null> {
  await sql`
    SELECT FROM rooms.standup_commitments WHERE org_id = ${orgId} AND id = ${id} AND space_id = ${spaceId}
    FOR NO KEY UPDATE`
  return prisma.commitment.findUnique({ where: { orgId_id: { orgId, id }, spaceId } })
}

async function answered(before: CommitmentColumns, room: LockedRoom, answer: CommitmentAnswer): Promise<Answered> {
  const { carried, carriedRoomId } = before
  if (answer === 'NOT_YET') {
    const counts = carriedRoomId !== room.id
    const open = { closedRoomId: null, closedAt: null, closedReason: null }
    return { ...open, carried: counts ? carried + 1 : carried, carriedRoomId: room.id }
  }
  const closedReason = answer === 'LANDED' ? 'landed' : 'dropped'
  if (before.closedReason === closedReason) return before
  return { carried, carriedRoomId, closedReason, closedRoomId: room.id, closedAt: await databaseNow() }
}

const isSame = (before: Answered, after: Answered): boolean =>
  before.closedReason === after.closedReason &&
  before.carried === after.carried &&
  before.carriedRoomId === after.carriedRoomId

function told(before: CommitmentColumns, { id, closedReason, carried }: CommitmentColumns): Fact {
  const event =
    closedReason === 'landed'
      ? commitmentLanded
      : closedReason === 'dropped'
        ? commitmentDropped
        : before.closedAt !== null
          ? commitmentReopened
          : commitmentCarried
  return fact(event, { commitmentId: id, carried }, { kind: 'Commitment', id })
}
