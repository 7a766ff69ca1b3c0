import { arg } from '../../graphql/arguments.ts'
import { builder } from '../../graphql/builder.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { mutation } from '../../graphql/mutation.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { userById } from '../../identity/index.ts'
import { ROOM_ERRORS } from '../room/errors.ts'
import { roomField } from '../room/payload-fields.ts'
import { storiesOfRoom, storyById } from '../story/loads.ts'
import { storyField } from '../story/payload-fields.ts'
import { castVote } from './cast-vote.ts'
import { clearVote } from './clear-vote.ts'
import { RoundClosedError } from './errors.ts'
import { ownCard, votesOfStory } from './loads.ts'
import { openQuickVote } from './open-quick-vote.ts'
import { resetRound } from './reset-round.ts'
import { revealRound } from './reveal-round.ts'
import { selectStory } from './select-story.ts'
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
    revealed: t.exposeBoolean('revealed', { description: 'The cards of the round on the table are open.' }),
    currentStory: t.field({
      type: 'Story',
      nullable: true,
      description: 'The story on the table; null when it is empty.',
      resolve: ({ currentStoryId }, _args, context) => (currentStoryId ? storyById(context, currentStoryId) : null),
    }),
    stories: t.field({
      type: ['Story'],
      ...costOfRows(50),
      description: 'All of them, at most 500, in their order.',
      resolve: async ({ id }, _args, context) => (await storiesOfRoom(context, id)) ?? [],
    }),
    waitingFor: t.field({
      type: ['User'],
      ...costOfRows(10),
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

mutation('roomSelect', {
  description: 'Puts a story on the table: a new round, in which its votes so far count. Stops the timer. Hosts may.',
  input: {
    roomId: arg.id('Room'),
    storyId: arg.id('Story').nullable().describe('Without one the table is cleared.'),
  },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: selectStory,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('roomQuickVote', {
  description:
    'Puts a new story, “Quick vote N”, on the table, in a new round. Given a title or a ref it is one like any other. ' +
    'Stops the timer. Hosts may.',
  input: { roomId: arg.id('Room') },
  errors: [LimitReachedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: openQuickVote,
  payload: (t) => ({ room: roomField(t), story: storyField(t) }),
})

mutation('roomReset', {
  description: 'Removes all votes on the story on the table and opens a new round. Stops the timer. Hosts may.',
  input: { roomId: arg.id('Room') },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: resetRound,
  payload: (t) => ({ room: roomField(t) }),
})

const roundVersion = arg.bigInt().describe('The round that is meant, from `PokerState.roundVersion`.')

mutation('roomReveal', {
  description: 'Opens the cards of the round on the table. Hosts may.',
  input: { roomId: arg.id('Room'), roundVersion },
  errors: [RoundClosedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: revealRound,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('voteCast', {
  description: "Casts the caller's vote in the open round. Casting again replaces it.",
  input: {
    roomId: arg.id('Room'),
    storyId: arg.id('Story'),
    roundVersion,
    card: arg.text({ max: 16 }).describe('A card of the room’s deck.'),
  },
  errors: [RoundClosedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: castVote,
  payload: (t) => ({
    room: roomField(t),
    myCard: t.exposeString('card', { description: 'The card that counts now.' }),
  }),
})

mutation('voteClear', {
  description: "Takes the caller's vote in the open round back.",
  input: { roomId: arg.id('Room'), storyId: arg.id('Story'), roundVersion },
  errors: [RoundClosedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: clearVote,
  payload: (t) => ({ room: roomField(t) }),
})
