import { compare, distance, type Fraction, mean, toHundredths } from '../../lib/fraction.ts'
import { type Cards, parseCard, specialCard } from './cards.ts'

export type RoundResult = {
  /** Every card of the deck in its order, special ones last. */
  distribution: { card: string; count: number }[]
  /** Votes with a card that is not special. */
  counted: number
  /** Null in ordinal decks, or when nothing is counted. */
  average: number | null
  /** The most frequent cards, all that tie, in deck order. */
  mode: string[]
  min: string | null
  max: string | null
  consensus: boolean
  suggested: string | null
}

/** The result of a round from its deck and the cards voted (ROOM-74). */
export function roundResult(deck: Cards, votes: readonly string[]): RoundResult {
  const counts = new Map(deck.cards.map((card) => [card, 0]))
  for (const card of votes) if (counts.has(card)) counts.set(card, counts.get(card)! + 1)
  const countOf = (card: string) => counts.get(card)!

  const special = deck.cards.filter((card) => specialCard(card) !== null)
  const ordinary = deck.cards.filter((card) => specialCard(card) === null)
  const voted = ordinary.filter((card) => countOf(card) > 0)
  const counted = voted.reduce((sum, card) => sum + countOf(card), 0)
  const most = Math.max(0, ...voted.map(countOf))
  const mode = voted.filter((card) => countOf(card) === most)

  const ranked = deck.ordinal ? voted : voted.toSorted((a, b) => compare(exactly(a), exactly(b)))
  const exact =
    deck.ordinal || counted === 0 ? null : mean(voted.map((card) => ({ value: exactly(card), count: countOf(card) })))

  return {
    distribution: [...ordinary, ...special].map((card) => ({ card, count: countOf(card) })),
    counted,
    average: exact && toHundredths(exact),
    mode,
    min: ranked[0] ?? null,
    max: ranked.at(-1) ?? null,
    consensus: voted.length === 1 && !special.some((card) => card === '?' && countOf(card) > 0),
    suggested: exact ? nearest(ordinary, exact) : deck.ordinal && mode.length === 1 ? mode[0]! : null,
  }
}

/** The card nearest to the exact average, the higher one on a tie. */
function nearest(cards: readonly string[], average: Fraction): string {
  const upward = cards.toSorted((a, b) => compare(exactly(b), exactly(a)))
  return upward.reduce((best, card) =>
    compare(distance(exactly(card), average), distance(exactly(best), average)) < 0 ? card : best,
  )
}

/** Every ordinary card of a numeric deck parses (ROOM-55). */
const exactly = (card: string): Fraction => parseCard(card)!
