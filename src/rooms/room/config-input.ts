import { arg } from '../../graphql/arguments.ts'
import { DeckPresetNameEnum } from '../deck/graphql.ts'
import type { PresetName } from '../deck/presets.ts'

// Lengths and numbers of cards are `checkCards`' to judge; these bounds only keep nonsense out.
const CARDS_READ = 100
const CARD_READ = 100

export type OwnCards = { name: string; cards: readonly string[]; ordinal?: boolean | undefined }
export type DeckInput = {
  id?: string | undefined
  preset?: PresetName | undefined
  cards?: OwnCards | undefined
}
export type PokerInput = { deck: DeckInput; autoReveal?: boolean | undefined; openVoting?: boolean | undefined }
export type ConfigInput = { poker?: PokerInput | undefined }

const ownCards = arg.object(
  'PokerCardsInput',
  {
    name: arg.text({ max: 64 }),
    cards: arg
      .list(arg.text({ min: 0, max: CARD_READ }), CARDS_READ)
      .describe('2 to 30, each 1 to 16 characters and distinct; numbers such as 5, 0.5, 1/2 or ½ and any of ? ☕ ∞.'),
    ordinal: arg.boolean().optional().describe('The cards have an order and no values; any text is a card.'),
  },
  'Cards of the room’s own.',
)

const deck = arg.oneOf(
  'PokerDeckInput',
  {
    id: arg.id('Deck').optional().describe('A deck of the space.'),
    preset: arg.enum(DeckPresetNameEnum).optional().describe('A deck that every space has.'),
    cards: ownCards.optional().describe('Cards of the room’s own.'),
  },
  'Where the room’s cards come from; it keeps a copy of them.',
)

const poker = arg.object(
  'PokerConfigInput',
  {
    deck: deck.describe('Where its cards come from.'),
    autoReveal: arg.boolean().optional().describe('The vote that completes a round reveals it. Default: false.'),
    openVoting: arg
      .boolean()
      .optional()
      .describe('A round waits for those who were there when it opened, present or not. Default: false.'),
  },
  'What a poker room is set to.',
)

export const configInput = arg.oneOf(
  'RoomConfigInput',
  { poker: poker.optional().describe('For a room of kind `poker`.') },
  'What a room of its kind is set to.',
)
