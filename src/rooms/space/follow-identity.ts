import { sql } from '../../db/sql.ts'
import {
  type MemberRoleChanged,
  type MembershipRevoked,
  onMemberRoleChanged,
  onMembershipRevoked,
  onUserErased,
} from '../../identity/index.ts'
import { registerSpaceSlugs } from '../../platform/index.ts'
import { followMember } from '../room/follow-member.ts'
import { depart } from './depart.ts'
import { memberRemoved } from './events.ts'

// What identity does to people, followed through their spaces in the same transaction (ID-41).

/** Coming back to the org must not open spaces silently; the last owner's may stand abandoned (ROOM-18). */
async function leaveAll({ orgId, userId, by }: MembershipRevoked): Promise<void> {
  const spaceIds = await spacesOf(orgId, userId)
  const event = { type: memberRemoved, payload: { userId, reason: 'membership' as const } }
  await depart(by, { orgId, spaceIds, userId, reason: 'REVOKED' }, event)
}

/** An org viewer is a spectator everywhere and leads nothing (ROOM-22, 43); who was one is what their flag says again. */
async function followRole({ orgId, userId, from, to, by }: MemberRoleChanged): Promise<void> {
  if (from !== 'viewer' && to !== 'viewer') return
  const spaceIds = await spacesOf(orgId, userId)
  const watches = to === 'viewer'
  await followMember(by, { orgId, spaceIds, userId, spectator: watches, setBy: 'role', mayHost: !watches })
}

async function spacesOf(orgId: string, userId: string): Promise<string[]> {
  const rows = await sql<{ space_id: string }>`
    SELECT space_id FROM rooms.space_members WHERE org_id = ${orgId} AND user_id = ${userId} ORDER BY space_id`
  return rows.map(({ space_id }) => space_id)
}

onMembershipRevoked(leaveAll)
onUserErased(leaveAll) // anonymous people have no membership to revoke
onMemberRoleChanged(followRole)

registerSpaceSlugs(async (orgId, spaceId) => {
  const [space] = await sql<{ slug: string }>`
    SELECT slug FROM rooms.spaces WHERE org_id = ${orgId} AND id = ${spaceId}`
  return space?.slug ?? null
})
