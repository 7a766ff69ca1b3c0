import { prisma } from '../../db/prisma.ts'
import { InvalidInputError, NotFoundError } from '../../graphql/errors.ts'
import { DECK_PRESETS } from '../deck/presets.ts'
import { requireCards } from '../deck/require-cards.ts'
import type { Deck } from '../poker/cards.ts'
import type { PokerConfig } from '../poker/poker-room.ts'
import type { DeckInput, PokerInput } from './config-input.ts'

type Place = { orgId: string; spaceId: string }
const AT = ['input', 'config', 'poker', 'deck']

/** A poker room's config with its own copy of the cards (ROOM-30, 57). */
export async function pokerConfig(place: Place, input: PokerInput): Promise<PokerConfig> {
  const { deck, autoReveal = false, openVoting = false } = input
  return { deck: await cardsOf(place, deck), autoReveal, openVoting }
}

async function cardsOf(place: Place, { id, preset, cards: own }: DeckInput): Promise<Deck> {
  if (preset !== undefined) return DECK_PRESETS[preset]
  if (id !== undefined) return checked(await deckOf(place, id), [...AT, 'id'])
  if (own !== undefined) return checked({ ...own, ordinal: own.ordinal ?? false }, [...AT, 'cards', 'cards'])
  throw new InvalidInputError([{ path: AT, message: 'names no deck' }])
}

/** One check for all cards, also for a deck that was written past the server (ROOM-55). */
function checked({ name, cards, ordinal }: Deck, path: readonly string[]): Deck {
  requireCards({ cards, ordinal }, path)
  return { name, cards, ordinal }
}

async function deckOf({ orgId, spaceId }: Place, id: string): Promise<Deck> {
  const select = { name: true, cards: true, ordinal: true } as const
  const deck = await prisma.deck.findUnique({ where: { orgId_id: { orgId, id }, spaceId }, select })
  if (!deck) throw new NotFoundError('config.poker.deck.id')
  return deck
}
