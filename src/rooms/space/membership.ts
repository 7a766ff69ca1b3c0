import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, LastOwnerError, NotFoundError } from '../../graphql/errors.ts'
import { actsAsOwner } from './access.ts'

export const SPACE_ROLES = ['owner', 'member'] as const
export type SpaceRole = (typeof SPACE_ROLES)[number]
export type Membership = {
  slug: string
  userId: string
  role: SpaceRole
  spectator: boolean
  account: string
  /** Of a registered person; null for those who are at home in the org. */
  orgRole: string | null
}

/**
 * Somebody's membership of a space, null when they have none that counts: of a person or agent without standing in the
 * org a row counts nowhere.
 */
export async function findMembership(orgId: string, spaceId: string, userId: string): Promise<Membership | null> {
  const [row] = await sql<Membership>`
    SELECT s.slug, m.user_id AS "userId", m.role, m.spectator, m.account, m.org_role AS "orgRole"
    FROM rooms.members AS m
    JOIN rooms.spaces AS s ON s.org_id = m.org_id AND s.id = m.space_id
    WHERE m.org_id = ${orgId} AND m.space_id = ${spaceId} AND m.user_id = ${userId}`
  return row ?? null
}

/** The caller's membership; a space that is not theirs is not there (ROOM-6). */
export async function requireMember(caller: UserCaller, spaceId: string, path = 'id'): Promise<Membership> {
  const { orgId, userId, standing } = caller
  const found = standing && standing !== 'GUEST' ? await findMembership(orgId, spaceId, userId) : null
  if (!found) throw new NotFoundError(path)
  return found
}

/** The same for what owners do. */
export async function requireOwner(caller: UserCaller, spaceId: string, path = 'id'): Promise<Membership> {
  const own = await requireMember(caller, spaceId, path)
  if (!actsAsOwner(caller, own)) throw new ForbiddenError('Only the owners of the space may do that.')
  return own
}

/**
 * Locks the owners of a space in the order in which everybody does (ROOM-2), and gives those who count. Owners who demote
 * each other meet here: the second sees what the first left.
 */
export async function lockOwners(orgId: string, spaceId: string): Promise<Set<string>> {
  await sql`
    SELECT FROM rooms.space_members WHERE org_id = ${orgId} AND space_id = ${spaceId} AND role = 'owner'
    ORDER BY user_id FOR UPDATE`
  const owners = await sql<{ user_id: string }>`
    SELECT user_id FROM rooms.members WHERE org_id = ${orgId} AND space_id = ${spaceId} AND role = 'owner'`
  return new Set(owners.map(({ user_id }) => user_id))
}

/** Refuses to take the last owner's role (ROOM-17). */
export function requireAnotherOwner(owners: ReadonlySet<string>, userId: string): void {
  if (owners.has(userId) && owners.size === 1) throw new LastOwnerError()
}

/** Once the owners are locked: whoever was demoted meanwhile decides nothing any more. */
export function requireStillOwner({ userId }: UserCaller, owners: ReadonlySet<string>): void {
  if (!owners.has(userId)) throw new ForbiddenError('Only the owners of the space may do that.')
}
