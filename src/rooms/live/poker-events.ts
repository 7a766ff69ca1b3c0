import { builder } from '../../graphql/builder.ts'
import { enumOf } from '../../graphql/enums.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { perViewer, sameForAll } from '../../graphql/per-viewer.ts'
import { ownCard } from '../poker/loads.ts'
import { RoundResultType, VoteType } from '../poker/types.ts'
import { storyById } from '../story/loads.ts'
import { REVEAL_REASONS } from './event-payloads.ts'
import { event, type Fields, userId } from './event-type.ts'

const storyId = (id: string) => ({ type: 'Story' as const, id })
const RevealReasonEnum = enumOf(
  'RevealReason',
  'Who revealed: a host, the vote that completed the round, or the timer.',
  REVEAL_REASONS,
)

type InRound = { payload: { roundVersion: string } }
type Waiting = { payload: { waitingForIds: readonly string[] } }

const roundVersion = <P extends InRound>(t: Fields<P>) =>
  t.field({
    type: 'BigInt',
    description: 'Names the round.',
    resolve: ({ payload }) => BigInt(payload.roundVersion),
  })
const waitingForIds = <P extends Waiting>(t: Fields<P>) =>
  t.globalIDList({
    description: 'Whose vote the round waits for.',
    resolve: ({ payload }) => payload.waitingForIds.map(userId),
  })

for (const type of ['StoryAdded', 'StoryChanged'] as const) {
  event(type, type === 'StoryAdded' ? 'A story was added.' : 'A story’s text changed.', (t) => ({
    story: t.field({
      type: 'Story',
      description: 'Its text as of this version.',
      resolve: ({ payload }) => payload.story,
    }),
  }))
}
event('StoriesImported', 'Stories were added from a CSV file, behind the last one.', (t) => ({
  stories: t.field({
    type: ['Story'],
    ...costOfRows(50),
    description: 'Those added, in their order; without any that are gone by then.',
    resolve: async ({ payload }, _args, context) => {
      const stories = await Promise.all(payload.storyIds.map((id) => storyById(context, id)))
      return stories.filter((story) => story !== null)
    },
  }),
  skipped: t.int({
    description: 'How many were left out because the room had their ref.',
    resolve: ({ payload }) => payload.skipped,
  }),
}))
const StoryPositionType = builder.objectRef<{ storyId: string; position: number }>('StoryPosition').implement({
  description: 'Where a story stands now.',
  fields: (t) => ({
    storyId: t.globalID({ description: 'Which story.', resolve: (row) => storyId(row.storyId) }),
    position: t.exposeFloat('position', { description: 'Order within the room, ties broken by id.' }),
  }),
})
event('StoriesReordered', 'One story moved, or all were numbered anew.', (t) => ({
  positions: t.field({
    type: [StoryPositionType],
    description: 'Of those that stand elsewhere now.',
    resolve: ({ payload }) => [...payload.positions],
  }),
}))
event('StoryRemoved', 'A story is gone.', (t) => ({
  storyId: t.globalID({ description: 'Which story.', resolve: ({ payload }) => storyId(payload.storyId) }),
}))
event('StoryEstimated', 'An estimate was written down or cleared.', (t) => ({
  storyId: t.globalID({ description: 'Which story.', resolve: ({ payload }) => storyId(payload.storyId) }),
  estimate: t.string({
    nullable: true,
    description: 'Null when it was cleared.',
    resolve: ({ payload }) => payload.estimate,
  }),
}))
event('RoundOpened', 'A story was put on the table, or with null the table cleared. A new round.', (t) => ({
  storyId: t.globalID({
    nullable: true,
    description: 'The story on the table; null for none.',
    resolve: ({ payload }) => payload.storyId && storyId(payload.storyId),
  }),
  roundVersion: roundVersion(t),
  revealed: t.boolean({
    description: 'Whether its cards are open already, from a round before.',
    resolve: ({ payload }) => payload.revealed,
  }),
  waitingForIds: waitingForIds(t),
}))
event('RoundReset', 'All votes on the story on the table are gone. A new round.', (t) => ({
  storyId: t.globalID({
    description: 'The story on the table.',
    resolve: ({ payload }) => storyId(payload.storyId),
  }),
  roundVersion: roundVersion(t),
  waitingForIds: waitingForIds(t),
}))
event('RoundVotersChanged', 'Whom the round waits for changed.', (t) => ({
  waitingForIds: waitingForIds(t),
}))
for (const type of ['VoteCast', 'VoteCleared'] as const) {
  event(
    type,
    type === 'VoteCast' ? 'Somebody voted. Which card, only they know.' : 'Somebody took their vote back.',
    (t) => ({
      storyId: t.globalID({
        description: 'The story on the table.',
        resolve: ({ payload }) => storyId(payload.storyId),
      }),
      roundVersion: roundVersion(t),
      userId: t.globalID({ description: 'Whose vote it is.', resolve: ({ payload }) => userId(payload.userId) }),
      myCard: t.string({
        nullable: true,
        ...perViewer('The viewer’s own card in this round.'),
        resolve: ({ payload }, _args, context) => ownCard(context, payload.storyId),
      }),
    }),
  )
}
event('RoundRevealed', 'The cards of the round are open.', (t) => ({
  storyId: t.globalID({
    description: 'The story on the table.',
    resolve: ({ payload }) => storyId(payload.storyId),
  }),
  roundVersion: roundVersion(t),
  reason: t.field({ type: RevealReasonEnum, description: 'Who revealed.', resolve: ({ payload }) => payload.reason }),
  votes: t.field({
    type: [VoteType],
    ...costOfRows(10),
    ...sameForAll('card'), // stored with the event, since all of them are open
    description: 'In the order they were cast.',
    resolve: ({ payload }) => payload.votes.map((vote) => ({ storyId: payload.storyId, ...vote })),
  }),
  result: t.field({
    type: RoundResultType,
    description: 'What the votes came to.',
    resolve: ({ payload }) => payload.result,
  }),
}))
