import type { Deck } from '../poker/cards.ts'

/** Decks that every space has, read-only (ROOM-57). */
export const DECK_PRESETS = {
  FIBONACCI: { name: 'Fibonacci', cards: ['0', '1', '2', '3', '5', '8', '13', '21', '34', '?', '☕'], ordinal: false },
  MODIFIED_FIBONACCI: {
    name: 'Modified Fibonacci',
    cards: ['0', '½', '1', '2', '3', '5', '8', '13', '20', '40', '100', '?', '☕'],
    ordinal: false,
  },
  POWERS_OF_TWO: {
    name: 'Powers of two',
    cards: ['0', '1', '2', '4', '8', '16', '32', '64', '?', '☕'],
    ordinal: false,
  },
  T_SHIRT: { name: 'T-shirt', cards: ['XS', 'S', 'M', 'L', 'XL', 'XXL', '?', '☕'], ordinal: true },
} as const satisfies Record<string, Deck>

export const PRESET_NAMES = Object.keys(DECK_PRESETS) as (keyof typeof DECK_PRESETS)[]
export type PresetName = keyof typeof DECK_PRESETS
