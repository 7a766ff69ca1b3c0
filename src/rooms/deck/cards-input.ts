import { arg } from '../../graphql/arguments.ts'

// Lengths and numbers of cards are `checkCards`' to judge; these bounds only keep nonsense out.
const CARDS_READ = 100
const CARD_READ = 100

/** Cards as they are written down, for a deck or for a room of its own. */
export const CARDS_INPUT = {
  name: arg.text({ max: 64 }),
  cards: arg
    .list(arg.text({ min: 0, max: CARD_READ }), CARDS_READ)
    .describe('2 to 30, each 1 to 16 characters and distinct; numbers such as 5, 0.5, 1/2 or ½ and any of ? ☕ ∞.'),
  ordinal: arg.boolean().optional().describe('The cards have an order and no values; any text is a card.'),
}
