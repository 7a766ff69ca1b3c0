import { enumOf } from '../../graphql/enums.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { SERVER_NOW } from '../room/graphql.ts'
import { EntryReactionType, StandupEntryType, StandupTurnType } from '../standup/types.ts'
import { SPEAKER_REASONS } from './event-payloads.ts'
import { event, type Fields, userId } from './event-type.ts'

const SpeakerReasonEnum = enumOf(
  'SpeakerChangeReason',
  'Why the turn went on: it was over, whoever had it was skipped, or departed.',
  SPEAKER_REASONS,
)

type OfEntry = { payload: { entryUserId: string } }
const entryUserId = <P extends OfEntry>(t: Fields<P>) =>
  t.globalID({ description: 'Whose entry.', resolve: ({ payload }) => userId(payload.entryUserId) })

event('EntryChanged', 'Somebody wrote their entry, or is skipped from now on, or no longer.', (t) => ({
  entry: t.field({
    type: StandupEntryType,
    description: 'Its texts and flags as of this version.',
    resolve: ({ payload }) => payload.entry,
  }),
}))
event('EntryReadyChanged', 'Somebody is ready, or not yet. Whoever had no entry has a blank one now.', (t) => ({
  userId: t.globalID({ description: 'Who.', resolve: ({ payload }) => userId(payload.userId) }),
  ready: t.boolean({ description: 'Whether they are.', resolve: ({ payload }) => payload.ready }),
}))
for (const type of ['SpeakingStarted', 'OrderChanged'] as const) {
  event(
    type,
    type === 'SpeakingStarted'
      ? 'The speaking began. Whoever of the order had no entry has a blank one now.'
      : 'The order is another one now. Whoever of it had no entry has a blank one now.',
    (t) => ({
      order: t.field({
        type: [StandupTurnType],
        ...costOfRows(20),
        description: 'All of it.',
        resolve: ({ payload }) => [...payload.order],
      }),
    }),
  )
}
event('SpeakerChanged', 'Somebody else has the turn, or nobody. With `endsAt` it is the room’s timer, too.', (t) => ({
  speakerId: t.globalID({
    nullable: true,
    description: 'Who has it now; null after the last.',
    resolve: ({ payload: { speakerId } }) => speakerId && userId(speakerId),
  }),
  previousId: t.globalID({
    nullable: true,
    description: 'Who had it before.',
    resolve: ({ payload: { previousId } }) => previousId && userId(previousId),
  }),
  spokenAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When whoever had it before had spoken; null when they were skipped or departed.',
    resolve: ({ payload }) => payload.spokenAt,
  }),
  startedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When the turn began, by the clock of `serverNow`.',
    resolve: ({ payload }) => payload.startedAt,
  }),
  endsAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When the timer of the turn ends; null where turns have none.',
    resolve: ({ payload }) => payload.endsAt,
  }),
  serverNow: t.field(SERVER_NOW),
  reason: t.field({
    type: SpeakerReasonEnum,
    description: 'Why the turn went on.',
    resolve: ({ payload }) => payload.reason,
  }),
}))
event('EntryCommentAdded', 'Somebody said something to an entry.', (t) => ({
  entryUserId: entryUserId(t),
  comment: t.field({
    type: 'StandupEntryComment',
    description: 'What they said.',
    resolve: ({ payload }) => payload.comment,
  }),
}))
event('EntryCommentRemoved', 'A comment on an entry was taken back.', (t) => ({
  entryUserId: entryUserId(t),
  commentId: t.globalID({
    description: 'Which comment.',
    resolve: ({ payload }) => ({ type: 'StandupEntryComment' as const, id: payload.commentId }),
  }),
}))
event('EntryReactionsChanged', 'Somebody reacted to an entry, or took a reaction back.', (t) => ({
  entryUserId: entryUserId(t),
  reactions: t.field({
    type: [EntryReactionType],
    ...costOfRows(3),
    description: 'All reactions to it.',
    resolve: ({ roomId, payload: { entryUserId, reactions } }) =>
      reactions.map((reaction) => ({ roomId, entryUserId, ...reaction })),
  }),
}))
