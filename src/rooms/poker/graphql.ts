import { builder } from '../../graphql/builder.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { userById } from '../../identity/index.ts'
import { storiesOfRoom, storyById } from '../story/loads.ts'
import { ownCard, votesOfStory } from './loads.ts'
import { waitingIn } from './waiting.ts'

export type PokerRow = { id: string; currentStoryId: string | null; revealed: boolean; pokerRoundVersion: bigint }

export const PokerStateType = builder.objectRef<PokerRow>('PokerState').implement({
  description: 'The table of a poker room: its stories, and the round of the one that lies on it.',
  fields: (t) => ({
    roundVersion: t.field({
      type: 'BigInt',
      description: 'Names the round; a vote or reveal for another one is refused.',
      resolve: ({ pokerRoundVersion }) => pokerRoundVersion,
    }),
    revealed: t.exposeBoolean('revealed'),
    currentStory: t.field({
      type: 'Story',
      nullable: true,
      resolve: ({ currentStoryId }, _args, context) => (currentStoryId ? storyById(context, currentStoryId) : null),
    }),
    stories: t.field({
      type: ['Story'],
      description: 'All of them, at most 500, in their order.',
      resolve: async ({ id }, _args, context) => (await storiesOfRoom(context, id)) ?? [],
    }),
    waitingFor: t.field({
      type: ['User'],
      description: 'Whose vote the open round still waits for.',
      resolve: async ({ id }, _args, context) => {
        const people = await Promise.all((await waitingIn(context, id)).map((userId) => userById(context, userId)))
        return people.filter((user) => user !== null)
      },
    }),
    votedUserIds: t.globalIDList({
      description: 'Who has voted in the round on the table.',
      resolve: async ({ currentStoryId }, _args, context) => {
        const votes = currentStoryId ? await votesOfStory(context, currentStoryId) : null
        return (votes ?? []).map(({ userId }) => ({ type: 'User', id: userId }))
      },
    }),
    myCard: t.string({
      nullable: true,
      ...perViewer('The viewer’s own card in the round on the table.'),
      resolve: ({ currentStoryId }, _args, context) => (currentStoryId ? ownCard(context, currentStoryId) : null),
    }),
  }),
})
