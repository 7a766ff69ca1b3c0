import { arg } from '../../graphql/arguments.ts'
import { CARDS_INPUT } from '../deck/cards-input.ts'
import { DeckPresetNameEnum } from '../deck/graphql.ts'
import type { PresetName } from '../deck/presets.ts'
import { standupInput } from '../standup/config-input.ts'
import type { StandupInput } from '../standup/standup-room.ts'

export type OwnCards = { name: string; cards: readonly string[]; ordinal?: boolean | undefined }
export type DeckInput = {
  id?: string | undefined
  preset?: PresetName | undefined
  cards?: OwnCards | undefined
}
export type PokerInput = { deck: DeckInput; autoReveal?: boolean | undefined; openVoting?: boolean | undefined }
export type ConfigInput = {
  poker?: PokerInput | undefined
  standup?: StandupInput | undefined
  plugin?: unknown
}

const ownCards = arg.object('PokerCardsInput', CARDS_INPUT, 'Cards of the room’s own.')

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
  {
    poker: poker.optional().describe('For a room of kind `poker`.'),
    standup: standupInput.optional().describe('For a room of kind `standup`.'),
    plugin: arg.json().optional().describe('For a room of a plugin’s kind: an object that fits its own schema.'),
  },
  'What a room of its kind is set to.',
)
