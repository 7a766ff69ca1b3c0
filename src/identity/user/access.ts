import { prisma } from '../../db/prisma.ts'
import { type Caller, meets } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { batchLoad } from '../../graphql/loads.ts'

/** Who is of the caller's org or invited into it: whose membership has not ended. */
const sharesOrg = batchLoad(async (userIds: readonly string[], { caller }) => {
  const where = { orgId: caller!.orgId, userId: { in: [...userIds] }, revokedAt: null }
  const rows = await prisma.membership.findMany({ where, select: { userId: true } })
  return new Map(rows.map(({ userId }) => [userId, true as const]))
})

/** Oneself, and owners and admins of an org that both are of (ID-10). */
export async function seesEmail(context: Context, userId: string): Promise<boolean> {
  const { caller } = context
  if (caller?.userId === userId) return true
  return meets('admin', caller) && (await sharesOrg(context, userId)) !== null
}

/**
 * Whom a caller finds by their id, as a condition beside row security, which shows people with a membership or a home in
 * the org, and guests those in their room. Participants find whom they meet in their spaces, since they have no directory
 * of the org (ID-4); without standing in the org one finds oneself alone. Who has not accepted an invitation is found by
 * nobody: what they are elsewhere is theirs (ID-34).
 */
export function findableUsers({ standing, userId, orgId }: Caller): object {
  const self = { id: userId ?? { in: [] } }
  if (standing === null) return self
  if (standing === 'GUEST') return {}
  if (standing === 'PARTICIPANT') {
    const space = { members: { some: { userId } } }
    return {
      OR: [self, { spaceMemberships: { some: { space } } }, { roomParticipants: { some: { room: { space } } } }],
    }
  }
  return { OR: [self, { homeOrgId: orgId }, { memberships: { some: { orgId, joinedAt: { not: null } } } }] }
}
