import { builder } from '../../graphql/builder.ts'
import type { PokerConfig } from '../poker/poker-room.ts'
import type { StandupConfig } from '../standup/standup-room.ts'

type ConfigOf<K extends string, C> = { kind: K; config: C }

const PokerConfigType = builder.objectRef<ConfigOf<'poker', PokerConfig>>('PokerConfig').implement({
  description: 'How a poker room was set up. The deck is the room’s own copy.',
  fields: (t) => ({
    deckName: t.string({ description: 'What its deck is called.', resolve: ({ config }) => config.deck.name }),
    cards: t.stringList({ description: 'In deck order.', resolve: ({ config }) => [...config.deck.cards] }),
    ordinal: t.boolean({
      description: 'The cards have an order and no values, such as T-shirt sizes.',
      resolve: ({ config }) => config.deck.ordinal,
    }),
    autoReveal: t.boolean({
      description: 'The vote that completes a round reveals it.',
      resolve: ({ config }) => config.autoReveal,
    }),
    openVoting: t.boolean({
      description: 'The round waits for those who were there when it opened, present or not.',
      resolve: ({ config }) => config.openVoting,
    }),
  }),
})

const StandupConfigType = builder.objectRef<ConfigOf<'standup', StandupConfig>>('StandupConfig').implement({
  description: 'How a standup was set up.',
  fields: (t) => ({
    async: t.boolean({
      description: 'People write when it suits them, and nobody waits for anybody.',
      resolve: ({ config }) => config.async,
    }),
    speakerSeconds: t.int({
      description: 'How long a turn is meant to take; 0 for no timer.',
      resolve: ({ config }) => config.speakerSeconds,
    }),
  }),
})

const PluginConfigType = builder.objectRef<ConfigOf<string, object>>('PluginConfig').implement({
  description: 'How a room of a plugin’s kind was set up.',
  fields: (t) => ({
    values: t.field({
      type: 'JSON',
      description: 'As its kind’s own schema has it.',
      resolve: ({ config }) => config,
    }),
  }),
})

export const RoomConfigType = builder.unionType('RoomConfig', {
  description: 'What a kind of room can be set to.',
  types: [PokerConfigType, StandupConfigType, PluginConfigType],
  resolveType: ({ kind }) => {
    if (kind === 'poker') return PokerConfigType
    return kind === 'standup' ? StandupConfigType : PluginConfigType
  },
})
