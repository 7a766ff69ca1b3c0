import { type Cards, parseCard, specialCard } from '../poker/cards.ts'

export const ESTIMATE_FAULT = 'is neither a card with a value nor, in a numeric deck, a number'

/** What can be written down for a story: a card that is not special, in a numeric deck any number too (ROOM-63). */
export function isEstimate({ cards, ordinal }: Cards, text: string): boolean {
  if (specialCard(text) !== null) return false
  return cards.includes(text) || (!ordinal && parseCard(text) !== null)
}
