import { builder } from '../../graphql/builder.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { userById } from '../../identity/index.ts'
import { type KnownVote, ownCard } from './loads.ts'
import type { RoundResult } from './result.ts'

export const VoteType = builder.objectRef<KnownVote>('Vote').implement({
  description: 'That somebody voted on a story.',
  fields: (t) => ({
    user: t.field({
      type: 'User',
      nullable: true,
      description: 'Who voted; null when they are gone or not the viewer’s to see.',
      resolve: (vote, _args, context) => userById(context, vote.userId),
    }),
    userId: t.globalID({ description: 'Who voted.', resolve: ({ userId }) => ({ type: 'User', id: userId }) }),
    card: t.string({
      nullable: true,
      ...perViewer('Null while hidden, unless it is the viewer’s own.'),
      resolve: ({ card, userId, storyId }, _args, context) =>
        card === null && context.caller?.userId === userId ? ownCard(context, storyId) : card,
    }),
  }),
})

const CardCountType = builder.objectRef<{ card: string; count: number }>('CardCount').implement({
  description: 'How often a card was played.',
  fields: (t) => ({
    card: t.exposeString('card', { description: 'As the deck has it.' }),
    count: t.exposeInt('count', { description: 'How many voted with it.' }),
  }),
})

export const RoundResultType = builder.objectRef<RoundResult>('RoundResult').implement({
  description: 'What a revealed round came to. Special cards (?, ☕, ∞) are counted in the distribution alone.',
  fields: (t) => ({
    counted: t.exposeInt('counted', { description: 'Votes with a card that is not special.' }),
    distribution: t.field({
      type: [CardCountType],
      ...costOfRows(10),
      resolve: ({ distribution }) => distribution,
      description: 'Every card in deck order, special ones last.',
    }),
    average: t.exposeFloat('average', {
      nullable: true,
      description: 'Mean of the exact values, half up to two decimals; null in ordinal decks.',
    }),
    mode: t.exposeStringList('mode', { description: 'The most frequent cards, all that tie, in deck order.' }),
    min: t.exposeString('min', { nullable: true, description: 'The lowest card that was counted.' }),
    max: t.exposeString('max', { nullable: true, description: 'The highest card that was counted.' }),
    consensus: t.exposeBoolean('consensus', { description: 'At least one counted vote, all of them equal, no “?”.' }),
    suggested: t.exposeString('suggested', {
      nullable: true,
      description: 'The card to write down: nearest to the average, or the single mode.',
    }),
  }),
})
