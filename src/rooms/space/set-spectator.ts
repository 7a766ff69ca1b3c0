import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { followMember } from '../room/follow-member.ts'
import { actsAsOwner } from './access.ts'
import { spectatorSet } from './events.ts'
import { findMembership, requireMember } from './membership.ts'

type SetSpectator = { id: string; spectator: boolean; userId?: string | undefined }
type SpectatorChange = { spaceId: string; userId: string; voteWithdrawn: boolean }

/** Makes the caller, or for an owner an agent, a spectator in all rooms of the space, or a voter again (ROOM-21). */
export async function setSpectator(
  caller: UserCaller,
  { id, spectator, userId = caller.userId }: SetSpectator,
): Promise<SpectatorChange> {
  const { orgId } = caller
  const own = await requireMember(caller, id)
  const member = userId === caller.userId ? own : await findMembership(orgId, id, userId)
  if (!member) throw new NotFoundError('userId')
  if (member !== own && !(member.account === 'agent' && actsAsOwner(caller, own))) {
    throw new ForbiddenError('Everybody says that for themselves, owners for agents.')
  }
  if (member.orgRole === 'viewer') throw new ForbiddenError('Viewers of the org are always spectators.')
  // Of several at once the first changes it; the others find it changed (ROOM-4).
  const changed = await sql`
    UPDATE rooms.space_members SET spectator = ${spectator}
    WHERE org_id = ${orgId} AND space_id = ${id} AND user_id = ${userId} AND spectator <> ${spectator} RETURNING 1`
  if (changed.length === 0) return { spaceId: id, userId, voteWithdrawn: false }
  const voteWithdrawn = await followMember(caller, {
    orgId,
    spaceIds: [id],
    userId,
    spectator,
    setBy: 'flag',
    mayHost: true,
  })
  await record(caller, spectatorSet, {
    target: { kind: 'User', id: userId },
    spaceId: id,
    spaceSlug: member.slug,
    payload: { userId, spectator, voteWithdrawn },
  })
  return { spaceId: id, userId, voteWithdrawn }
}
