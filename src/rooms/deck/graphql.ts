import { builder, callerOf } from '../../graphql/builder.ts'
import { enumOf } from '../../graphql/enums.ts'
import type { Deck } from '../poker/cards.ts'
import { inVisibleSpace } from '../space/access.ts'
import { DECK_PRESETS, PRESET_NAMES, type PresetName } from './presets.ts'

export const DeckPresetNameEnum = enumOf('DeckPresetName', 'A deck that every space has.', PRESET_NAMES)

builder.prismaNode('Deck', {
  description: 'Cards of a space to estimate with. A room copies them, so no later change reaches it.',
  id: { resolve: (deck) => deck.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...inVisibleSpace(context) }),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What people call it.' }),
    cards: t.exposeStringList('cards', { description: 'In the order they are shown.' }),
    ordinal: t.exposeBoolean('ordinal', {
      description: 'The cards have an order and no values, such as T-shirt sizes.',
    }),
  }),
})

const DeckPresetType = builder.objectRef<Deck & { preset: PresetName }>('DeckPreset').implement({
  description: 'A deck that every space has, read-only.',
  fields: (t) => ({
    preset: t.field({
      type: DeckPresetNameEnum,
      description: 'Names it in `roomCreate`.',
      resolve: ({ preset }) => preset,
    }),
    name: t.exposeString('name', { description: 'What people call it.' }),
    cards: t.stringList({ description: 'In the order they are shown.', resolve: ({ cards }) => [...cards] }),
    ordinal: t.exposeBoolean('ordinal', { description: 'The cards have an order and no values.' }),
  }),
})

builder.queryField('deckPresets', (t) =>
  t.field({
    type: [DeckPresetType],
    authScopes: { needs: 'standing', scope: 'rooms:read' },
    description: 'The decks that every space has.',
    resolve: () => PRESET_NAMES.map((preset) => ({ preset, ...DECK_PRESETS[preset] })),
  }),
)
