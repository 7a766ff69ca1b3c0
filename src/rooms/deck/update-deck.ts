import { sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import type { DeckChange } from './create-deck.ts'
import { deckUpdated } from './events.ts'
import { lockDeck, requireFreeName } from './lock-decks.ts'
import { requireCards } from './require-cards.ts'

type UpdateDeck = {
  id: string
  name?: string | undefined
  cards?: readonly string[] | undefined
  ordinal?: boolean | undefined
}

/** Changes what is given. Rooms have a copy of their cards and keep it (ROOM-57). */
export async function updateDeck(caller: UserCaller, { id, ...given }: UpdateDeck): Promise<DeckChange> {
  const { deck, slug } = await lockDeck(caller, id)
  const { orgId, spaceId } = deck
  const { name = deck.name, cards = deck.cards, ordinal = deck.ordinal } = given
  const fields = [
    ...(name === deck.name ? [] : (['name'] as const)),
    ...(cards.length === deck.cards.length && cards.every((card, at) => card === deck.cards[at])
      ? []
      : (['cards'] as const)),
    ...(ordinal === deck.ordinal ? [] : (['ordinal'] as const)),
  ]
  if (fields.length === 0) return { spaceId, deckId: id }

  requireCards({ cards, ordinal }, ['input', 'cards'])
  if (name !== deck.name) await requireFreeName(orgId, spaceId, name)
  await sqlOne`
    UPDATE rooms.decks SET name = ${name}, cards = ${cards}::text[], ordinal = ${ordinal}
    WHERE org_id = ${orgId} AND id = ${id} RETURNING 1`
  const target = { kind: 'Deck', id } as const
  await record(caller, deckUpdated, { target, spaceId, spaceSlug: slug, payload: { deckId: id, fields } })
  return { spaceId, deckId: id }
}
