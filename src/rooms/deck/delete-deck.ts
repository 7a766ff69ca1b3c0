import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import type { DeckChange } from './create-deck.ts'
import { deckDeleted } from './events.ts'
import { lockDeck } from './lock-decks.ts'

/** Deletes a deck of a space; the rooms made with it keep their cards (ROOM-57). */
export async function deleteDeck(caller: UserCaller, { id }: { id: string }): Promise<DeckChange> {
  const { deck, slug } = await lockDeck(caller, id)
  const { orgId, spaceId } = deck
  await sql`DELETE FROM rooms.decks WHERE org_id = ${orgId} AND id = ${id}`
  const target = { kind: 'Deck', id } as const
  await record(caller, deckDeleted, { target, spaceId, spaceSlug: slug, payload: { deckId: id } })
  return { spaceId, deckId: id }
}
