import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import type { Deck } from '../../generated/prisma/client.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ConflictError, ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { type Membership, requireMember } from '../space/membership.ts'

/** Whoever changes decks of a space takes turns at its row, so its limit and its names hold. Members who write may. */
export async function lockDecks(caller: UserCaller, spaceId: string, path: string): Promise<Membership> {
  await sql`SELECT FROM rooms.spaces WHERE org_id = ${caller.orgId} AND id = ${spaceId} FOR NO KEY UPDATE`
  const own = await requireMember(caller, spaceId, path)
  if (own.orgRole === 'viewer') throw new ForbiddenError()
  return own
}

/** The same by a deck, which is read under the lock. One of a space that is not the caller's is not there (ROOM-6). */
export async function lockDeck(caller: UserCaller, id: string): Promise<{ deck: Deck; slug: string }> {
  const where = { orgId_id: { orgId: caller.orgId, id } }
  const found = await prisma.deck.findUnique({ where, select: { spaceId: true } })
  if (!found) throw new NotFoundError('id')
  const { slug } = await lockDecks(caller, found.spaceId, 'id')
  const deck = await prisma.deck.findUnique({ where })
  if (!deck) throw new NotFoundError('id')
  return { deck, slug }
}

/** Two decks of a space have two names. */
export async function requireFreeName(orgId: string, spaceId: string, name: string): Promise<void> {
  const taken = await sql`SELECT FROM rooms.decks WHERE org_id = ${orgId} AND space_id = ${spaceId} AND name = ${name}`
  if (taken.length > 0) throw new ConflictError('The space has a deck of that name.')
}
