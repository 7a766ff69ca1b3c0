import { InvalidInputError } from '../../graphql/errors.ts'
import { type Cards, checkCards } from '../poker/cards.ts'

/** The one check of cards, for decks and for rooms (ROOM-55): a fault is named at its card, or at the list. */
export function requireCards({ cards, ordinal }: Cards, path: readonly string[]): void {
  const faults = checkCards({ cards, ordinal })
  if (faults.length === 0) return
  const at = (index: number | null) => (index === null ? path : [...path, String(index)])
  throw new InvalidInputError(faults.map(({ index, message }) => ({ path: at(index), message })))
}
