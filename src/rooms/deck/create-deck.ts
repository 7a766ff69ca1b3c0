import { sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import { deckCreated } from './events.ts'
import { lockDecks, requireFreeName } from './lock-decks.ts'
import { requireCards } from './require-cards.ts'

const DECKS_MAX = 50

type NewDeck = { spaceId: string; name: string; cards: readonly string[]; ordinal?: boolean | undefined }
export type DeckChange = { spaceId: string; deckId: string }

/** Makes a deck of a space (ROOM-57). */
export async function createDeck(
  caller: UserCaller,
  { spaceId, name, cards, ordinal = false }: NewDeck,
): Promise<DeckChange> {
  const { orgId } = caller
  const { slug } = await lockDecks(caller, spaceId, 'spaceId')
  requireCards({ cards, ordinal }, ['input', 'cards'])
  await requireFreeName(orgId, spaceId, name)
  const { count } = await sqlOne<{ count: number }>`
    SELECT count(*)::integer AS count FROM rooms.decks WHERE org_id = ${orgId} AND space_id = ${spaceId}`
  if (count >= DECKS_MAX) throw new LimitReachedError(DECKS_MAX)

  const deckId = newId()
  await sqlOne`
    INSERT INTO rooms.decks (org_id, id, space_id, name, cards, ordinal)
    VALUES (${orgId}, ${deckId}, ${spaceId}, ${name}, ${cards}::text[], ${ordinal}) RETURNING 1`
  const target = { kind: 'Deck', id: deckId } as const
  await record(caller, deckCreated, { target, spaceId, spaceSlug: slug, payload: { deckId } })
  return { spaceId, deckId }
}
