import { event, userId } from './event-type.ts'

event(
  'CommitmentChanged',
  'Somebody committed to something, or said what became of it. Guests hear of the version alone.',
  (t) => ({
    commitment: t.field({
      type: 'Commitment',
      description: 'As of this version.',
      resolve: ({ payload }) => payload.commitment as never,
    }),
  }),
)
event('KudosGiven', 'A member thanked another one. Guests hear of the version alone.', (t) => ({
  kudos: t.field({ type: 'Kudos', description: 'The kudos.', resolve: ({ payload }) => payload.kudos as never }),
}))
event('KudosRemoved', 'Somebody took kudos back. Guests hear of the version alone.', (t) => ({
  kudosId: t.globalID({
    description: 'Of the kudos that is gone.',
    resolve: ({ payload }) => ({ type: 'Kudos', id: payload.kudosId }),
  }),
}))
event(
  'MentionReceived',
  'Somebody asked the viewer for help. Nobody else hears of it, and it takes no version.',
  (t) => ({
    fromUserId: t.globalID({ description: 'Who asks.', resolve: ({ payload }) => userId(payload.fromUserId) }),
  }),
)
