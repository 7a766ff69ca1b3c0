import { prisma } from '../../db/prisma.ts'
import { rowsById } from '../../db/rows.ts'
import { sql } from '../../db/sql.ts'
import { hasScope, meets } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { batchLoad } from '../../graphql/loads.ts'
import { enabledInstalls } from '../plugin/port.ts'
import type { SpaceRole } from './membership.ts'
import { LIVE } from './standing.ts'

export const spaceById = batchLoad(rowsById('Space'))

type OwnMembership = { role: SpaceRole; spectator: boolean }

/** By person and space, since one rendering for many shares what it has read. */
const membershipByKey = batchLoad(async (keys: readonly `${string} ${string}`[]) => {
  const pairs = keys.map((key) => key.split(' ') as [string, string])
  const rows = await sql<OwnMembership & { key: (typeof keys)[number] }>`
    SELECT asked.user_id || ' ' || asked.space_id AS key, m.role, m.spectator OR m.viewer AS spectator
    FROM unnest(${pairs.map(([userId]) => userId)}::uuid[], ${pairs.map(([, spaceId]) => spaceId)}::uuid[])
      AS asked (user_id, space_id)
    JOIN rooms.members AS m ON m.space_id = asked.space_id AND m.user_id = asked.user_id`
  return new Map(rows.map(({ key, role, spectator }) => [key, { role, spectator }]))
})

/** The viewer's membership of a space; null for whoever has none, and where nobody in particular looks. */
export async function ownMembership(context: Context, spaceId: string): Promise<OwnMembership | null> {
  const { caller } = context
  if (!meets('participant', caller) || !hasScope('rooms:read', caller)) return null
  return membershipByKey(context, `${caller.userId} ${spaceId}`)
}

/** Whether the content of a space is the viewer's, or that of all for whom one rendering is made, to see. */
export async function seesSpace(context: Context, spaceId: string): Promise<boolean> {
  const { audience } = context
  if (audience) return audience.of === 'members' && audience.spaceId === spaceId
  return (await ownMembership(context, spaceId)) !== null
}

/** Spaces that nobody who counts owns any more (ROOM-18). */
export const abandonedSpace = batchLoad(async (ids: readonly string[]) => {
  const spaces = await sql<{ id: string }>`
    SELECT asked.id FROM unnest(${ids}::uuid[]) AS asked (id)
    WHERE NOT EXISTS (SELECT FROM rooms.members AS m WHERE m.space_id = asked.id AND m.role = 'owner')`
  return new Map(spaces.map(({ id }) => [id, true as const]))
})

/** People whom their role in the org makes a spectator everywhere (ROOM-22). */
export const isOrgViewer = batchLoad(async (userIds: readonly string[]) => {
  const where = { userId: { in: [...userIds] }, role: 'viewer', ...LIVE }
  const viewers = await prisma.membership.findMany({ where, select: { userId: true } })
  return new Map(viewers.map(({ userId }) => [userId, true as const]))
})

type OfferedKind = { kind: string; display: string; provider: string; actions: unknown }

/** Core kinds, and those of plugins that are enabled. */
async function offered<K extends { provider: string; installId: string | null }>(orgId: string, kinds: K[]) {
  const installs = kinds.flatMap(({ installId }) => (installId === null ? [] : [installId]))
  const enabled = await enabledInstalls(orgId, installs)
  return kinds.filter(
    ({ provider, installId }) => provider === 'core' || (installId !== null && enabled.has(installId)),
  )
}

/** What a room of the org can be (ROOM-31): the same for all its spaces, so it is read under one key. */
const kindsOf = batchLoad(async (orgIds: readonly string[]) => {
  const where = { orgId: { in: [...orgIds] }, retiredAt: null }
  const kinds = await prisma.roomKind.findMany({ where, orderBy: { kind: 'asc' } })
  const byOrg = Map.groupBy(kinds, ({ orgId }) => orgId)
  for (const [orgId, declared] of byOrg) byOrg.set(orgId, await offered(orgId, declared))
  return byOrg
})

export const offeredKinds = async (context: Context, orgId: string): Promise<OfferedKind[]> =>
  (await kindsOf(context, orgId)) ?? []
