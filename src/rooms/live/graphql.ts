import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder } from '../../graphql/builder.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { userById } from '../../identity/index.ts'
import { ownCard } from '../poker/loads.ts'
import { RoundResultType, VoteType } from '../poker/types.ts'
import { RoomConfigType } from '../room/config.ts'
import { RoomParticipantType, serverNow, TimerOnEnd } from '../room/graphql.ts'
import { roomById } from '../room/loads.ts'
import type { RoomEvent, RoomEventName } from './event-payloads.ts'
import { subscribeToRoom } from './subscribe.ts'

const userId = (id: string) => ({ type: 'User' as const, id })
const storyId = (id: string) => ({ type: 'Story' as const, id })
const FacilitatorReason = builder.enumType('FacilitatorChangeReason', {
  values: ['HANDOVER', 'CLAIM', 'AUTO'] as const,
})
const LeaveReason = builder.enumType('ParticipantLeaveReason', {
  values: ['LEFT', 'REMOVED', 'REVOKED', 'EXPIRED', 'CAP'] as const,
})
const RevealReason = builder.enumType('RevealReason', {
  description: 'Who revealed: a host, the vote that completed the round, or the timer.',
  values: ['MANUAL', 'AUTO', 'TIMER'] as const,
})

const RoomEventInterface = builder.interfaceRef<RoomEvent>('RoomEvent').implement({
  description:
    'Something that happened in a room. Versions follow one another without gap; the next one is version + 1.',
  resolveType: ({ type }) => type,
  fields: (t) => ({
    roomId: t.globalID({ resolve: ({ roomId }) => ({ type: 'Room', id: roomId }) }),
    version: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Null for what takes no version, such as presence.',
      resolve: ({ version }) => version,
    }),
    at: t.expose('at', { type: 'DateTime' }),
    actor: t.field({
      type: 'User',
      nullable: true,
      resolve: ({ actorId }, _args, context) => (actorId ? userById(context, actorId) : null),
    }),
  }),
})

type EventFields<T extends RoomEventName> = (
  t: PothosSchemaTypes.ObjectFieldBuilder<import('../../graphql/builder.ts').SchemaTypes, RoomEvent<T>>,
) => Record<string, unknown>

function event<T extends RoomEventName>(type: T, description: string, fields: EventFields<T> = () => ({})): void {
  builder
    .objectRef<RoomEvent<T>>(type)
    .implement({ description, interfaces: [RoomEventInterface] as never, fields: fields as never })
}

event('RoomSnapshot', 'The whole room at its version: what a fresh stream gets first, and again after a gap.', (t) => ({
  room: t.field({ type: 'Room', nullable: true, resolve: ({ roomId }, _args, context) => roomById(context, roomId) }),
  serverNow: t.field({ type: 'DateTime', resolve: serverNow }),
}))
event('RoomTouched', 'A version whose content is not the viewer’s to see.')
event('RoomDeleted', 'The room is gone; the last event of its stream.')
event('RoomChanged', 'Title or settings changed.', (t) => ({
  title: t.string({ resolve: ({ payload }) => payload.title }),
  config: t.field({
    type: RoomConfigType,
    resolve: ({ payload }) => ({ kind: 'poker', config: payload.config }) as never,
  }),
}))
event('RoomPhaseChanged', 'The room went into another phase, ended or was reopened.', (t) => ({
  phase: t.string({ resolve: ({ payload }) => payload.phase }),
  endedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ payload }) => payload.endedAt }),
}))
event('FacilitatorChanged', 'Somebody else leads, or nobody.', (t) => ({
  facilitatorId: t.globalID({
    nullable: true,
    resolve: ({ payload: { facilitatorId } }) => facilitatorId && userId(facilitatorId),
  }),
  previousId: t.globalID({
    nullable: true,
    resolve: ({ payload: { previousId } }) => previousId && userId(previousId),
  }),
  reason: t.field({ type: FacilitatorReason, resolve: ({ payload }) => payload.reason }),
}))
for (const type of ['ParticipantJoined', 'ParticipantChanged'] as const) {
  event(
    type,
    type === 'ParticipantJoined' ? 'Somebody came for the first time.' : 'What a participant may do changed.',
    (t) => ({
      participant: t.field({
        type: RoomParticipantType,
        resolve: ({ roomId, payload }) => ({ roomId, ...payload.participant }),
      }),
    }),
  )
}
event('ParticipantLeft', 'Somebody is no longer of the room.', (t) => ({
  userId: t.globalID({ resolve: ({ payload }) => userId(payload.userId) }),
  reason: t.field({ type: LeaveReason, resolve: ({ payload }) => payload.reason }),
}))
event('PresenceChanged', 'Who is connected now, in full.', (t) => ({
  userIds: t.globalIDList({ resolve: ({ payload }) => payload.userIds.map(userId) }),
  serverNow: t.field({ type: 'DateTime', resolve: serverNow }),
}))
event('TimerChanged', 'The timer started, moved or, with nulls, stopped.', (t) => ({
  startedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ payload }) => payload.startedAt }),
  endsAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ payload }) => payload.endsAt }),
  onEnd: t.field({ type: TimerOnEnd, resolve: ({ payload }) => payload.onEnd }),
  serverNow: t.field({ type: 'DateTime', resolve: serverNow }),
}))
for (const type of ['StoryAdded', 'StoryChanged'] as const) {
  event(type, type === 'StoryAdded' ? 'A story was added.' : 'A story’s text changed.', (t) => ({
    story: t.field({ type: 'Story', resolve: ({ payload }) => payload.story }),
  }))
}
const StoryPosition = builder.objectRef<{ storyId: string; position: number }>('StoryPosition').implement({
  fields: (t) => ({
    storyId: t.globalID({ resolve: (row) => storyId(row.storyId) }),
    position: t.exposeFloat('position'),
  }),
})
event('StoriesReordered', 'One story moved, or all were numbered anew.', (t) => ({
  positions: t.field({ type: [StoryPosition], resolve: ({ payload }) => [...payload.positions] }),
}))
event('StoryRemoved', 'A story is gone.', (t) => ({
  storyId: t.globalID({ resolve: ({ payload }) => storyId(payload.storyId) }),
}))
event('StoryEstimated', 'An estimate was written down or cleared.', (t) => ({
  storyId: t.globalID({ resolve: ({ payload }) => storyId(payload.storyId) }),
  estimate: t.string({ nullable: true, resolve: ({ payload }) => payload.estimate }),
}))
event('RoundOpened', 'A story was put on the table, or with null the table cleared. A new round.', (t) => ({
  storyId: t.globalID({ nullable: true, resolve: ({ payload }) => payload.storyId && storyId(payload.storyId) }),
  roundVersion: t.field({ type: 'BigInt', resolve: ({ payload }) => BigInt(payload.roundVersion) }),
  revealed: t.boolean({ resolve: ({ payload }) => payload.revealed }),
  waitingForIds: t.globalIDList({ resolve: ({ payload }) => payload.waitingForIds.map(userId) }),
}))
event('RoundReset', 'All votes on the story on the table are gone. A new round.', (t) => ({
  storyId: t.globalID({ resolve: ({ payload }) => storyId(payload.storyId) }),
  roundVersion: t.field({ type: 'BigInt', resolve: ({ payload }) => BigInt(payload.roundVersion) }),
  waitingForIds: t.globalIDList({ resolve: ({ payload }) => payload.waitingForIds.map(userId) }),
}))
event('RoundVotersChanged', 'Whom the round waits for changed.', (t) => ({
  waitingForIds: t.globalIDList({ resolve: ({ payload }) => payload.waitingForIds.map(userId) }),
}))
for (const type of ['VoteCast', 'VoteCleared'] as const) {
  event(
    type,
    type === 'VoteCast' ? 'Somebody voted. Which card, only they know.' : 'Somebody took their vote back.',
    (t) => ({
      storyId: t.globalID({ resolve: ({ payload }) => storyId(payload.storyId) }),
      roundVersion: t.field({ type: 'BigInt', resolve: ({ payload }) => BigInt(payload.roundVersion) }),
      userId: t.globalID({ resolve: ({ payload }) => userId(payload.userId) }),
      myCard: t.string({
        nullable: true,
        ...perViewer('The viewer’s own card in this round.'),
        resolve: ({ payload }, _args, context) => ownCard(context, payload.storyId),
      }),
    }),
  )
}
event('RoundRevealed', 'The cards of the round are open.', (t) => ({
  storyId: t.globalID({ resolve: ({ payload }) => storyId(payload.storyId) }),
  roundVersion: t.field({ type: 'BigInt', resolve: ({ payload }) => BigInt(payload.roundVersion) }),
  reason: t.field({ type: RevealReason, resolve: ({ payload }) => payload.reason }),
  votes: t.field({
    type: [VoteType],
    resolve: ({ payload }) => payload.votes.map((vote) => ({ storyId: payload.storyId, ...vote })),
  }),
  result: t.field({ type: RoundResultType, resolve: ({ payload }) => payload.result }),
}))

const read = argumentsOf({
  roomId: arg.id('Room'),
  sinceVersion: arg
    .bigInt()
    .optional()
    .describe('The last version seen: what came after it follows, or a snapshot when that is no longer stored.'),
  connectionId: arg
    .uuid()
    .optional()
    .describe('Names the connection for `roomHeartbeat`; without one the stream itself is the presence.'),
})

builder.subscriptionField('roomEvents', (t) =>
  t.field({
    type: RoomEventInterface,
    description:
      'What happens in a room, in order of version, without gap or repeat. Opening it makes the viewer present.',
    args: read.args,
    // Checked by `subscribe`: an event is rendered for many, so its own resolver has no caller.
    extensions: { needs: 'standing' },
    subscribe: (_root, args, context, info) => subscribeToRoom(context, read.values(args), info.schema) as never,
    resolve: (roomEvent) => roomEvent as RoomEvent,
  }),
)
