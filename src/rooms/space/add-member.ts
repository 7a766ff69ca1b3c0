import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { memberAdded } from './events.ts'
import { holdStanding } from './hold-standing.ts'
import { requireOwner } from './membership.ts'
import { standingIn } from './standing.ts'

type AddMember = { id: string; userId: string; spectator?: boolean | undefined }

/** An owner takes somebody of the org into the space (ROOM-16). Who is in it already stays as they are. */
export async function addMember(
  caller: UserCaller,
  { id, userId, spectator }: AddMember,
): Promise<{ spaceId: string; userId: string }> {
  const { orgId } = caller
  const { slug } = await requireOwner(caller, id)
  await holdStanding(orgId, userId)
  const account = await accountOf(orgId, userId)
  const watches = spectator ?? account === 'agent' // agents start as spectators (ROOM-22)
  const added = await sql`
    INSERT INTO rooms.space_members (org_id, space_id, user_id, spectator)
    VALUES (${orgId}, ${id}, ${userId}, ${watches}) ON CONFLICT DO NOTHING RETURNING 1`
  if (added.length > 0) {
    const payload = { userId, spectator: watches }
    await record(caller, memberAdded, { target: { kind: 'User', id: userId }, spaceId: id, spaceSlug: slug, payload })
  }
  return { spaceId: id, userId }
}

/** Of an active person or agent with standing in the org; anybody else is not there (ID-8). */
async function accountOf(orgId: string, userId: string): Promise<string> {
  const where = { id: userId, account: { not: 'guest' }, ...standingIn(orgId) }
  const person = await prisma.user.findUnique({ where, select: { account: true } })
  if (!person) throw new NotFoundError('userId')
  return person.account
}
