// For conditions of Prisma; SQL has the view rooms.members.

/** A membership of the org that somebody has now. */
export const LIVE = { joinedAt: { not: null }, revokedAt: null } as const

/** People and agents who count in the org (ROOM, words). */
export const standingIn = (orgId: string) => ({
  status: 'active',
  OR: [{ homeOrgId: orgId }, { memberships: { some: { orgId, ...LIVE } } }],
})
