import { enumOf } from '../../graphql/enums.ts'
import { RoomConfigType } from '../room/config.ts'
import { RoomParticipantType, SERVER_NOW, TimerOnEndEnum } from '../room/graphql.ts'
import { roomById } from '../room/loads.ts'
import { FACILITATOR_REASONS, LEAVE_REASONS } from './event-payloads.ts'
import { event, userId } from './event-type.ts'

const FacilitatorReasonEnum = enumOf(
  'FacilitatorChangeReason',
  'Why somebody else leads: handed over, claimed, or because the facilitator departed.',
  FACILITATOR_REASONS,
)
const LeaveReasonEnum = enumOf(
  'ParticipantLeaveReason',
  'Why somebody is no longer of a room: left or was removed from its space, lost the org, came by a link that is ' +
    'over, or was the oldest of too many.',
  LEAVE_REASONS,
)

event('RoomSnapshot', 'The whole room at its version: what a fresh stream gets first, and again after a gap.', (t) => ({
  room: t.field({
    type: 'Room',
    nullable: true,
    description: 'All that is selected of it, as the viewer sees it.',
    resolve: ({ roomId }, _args, context) => roomById(context, roomId),
  }),
  serverNow: t.field(SERVER_NOW),
}))
event('RoomTouched', 'A version whose content is not the viewer’s to see.')
event('RoomDeleted', 'The room is gone; the last event of its stream.')
event('RoomChanged', 'Title or settings changed.', (t) => ({
  title: t.string({ description: 'As it is now.', resolve: ({ payload }) => payload.title }),
  config: t.field({
    type: RoomConfigType,
    description: 'As it is now.',
    resolve: ({ payload: { kind, config } }) => ({ kind, config }) as never,
  }),
}))
event('RoomPhaseChanged', 'The room went into another phase, ended or was reopened.', (t) => ({
  phase: t.string({ description: 'The one it is in now.', resolve: ({ payload }) => payload.phase }),
  endedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'Null while it goes on.',
    resolve: ({ payload }) => payload.endedAt,
  }),
}))
event('FacilitatorChanged', 'Somebody else leads, or nobody.', (t) => ({
  facilitatorId: t.globalID({
    nullable: true,
    description: 'Who leads now.',
    resolve: ({ payload: { facilitatorId } }) => facilitatorId && userId(facilitatorId),
  }),
  previousId: t.globalID({
    nullable: true,
    description: 'Who led before.',
    resolve: ({ payload: { previousId } }) => previousId && userId(previousId),
  }),
  reason: t.field({
    type: FacilitatorReasonEnum,
    description: 'How it came.',
    resolve: ({ payload }) => payload.reason,
  }),
}))
event('CofacilitatorsChanged', 'Others lead beside the facilitator.', (t) => ({
  userIds: t.globalIDList({
    description: 'All who do so now, in the order they came.',
    resolve: ({ payload }) => payload.userIds.map(userId),
  }),
}))
for (const type of ['ParticipantJoined', 'ParticipantChanged'] as const) {
  event(
    type,
    type === 'ParticipantJoined' ? 'Somebody came for the first time.' : 'What a participant may do changed.',
    (t) => ({
      participant: t.field({
        type: RoomParticipantType,
        description: 'As they are at this version.',
        resolve: ({ roomId, payload }) => ({ roomId, ...payload.participant }),
      }),
    }),
  )
}
event('ParticipantLeft', 'Somebody is no longer of the room.', (t) => ({
  userId: t.globalID({ description: 'Who is gone.', resolve: ({ payload }) => userId(payload.userId) }),
  reason: t.field({ type: LeaveReasonEnum, description: 'Why.', resolve: ({ payload }) => payload.reason }),
}))
event('PresenceChanged', 'Who is connected now, in full.', (t) => ({
  userIds: t.globalIDList({
    description: 'Everybody who is connected.',
    resolve: ({ payload }) => payload.userIds.map(userId),
  }),
  serverNow: t.field(SERVER_NOW),
}))
event('TimerChanged', 'The timer started, moved or, with nulls, stopped.', (t) => ({
  startedAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'By the clock of `serverNow`.',
    resolve: ({ payload }) => payload.startedAt,
  }),
  endsAt: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'By the clock of `serverNow`.',
    resolve: ({ payload }) => payload.endsAt,
  }),
  onEnd: t.field({
    type: TimerOnEndEnum,
    description: 'What the server does at the end.',
    resolve: ({ payload }) => payload.onEnd,
  }),
  serverNow: t.field(SERVER_NOW),
}))
