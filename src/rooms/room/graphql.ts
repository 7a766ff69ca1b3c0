import { prisma } from '../../db/prisma.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import type { Context } from '../../graphql/context.ts'
import { enumOf } from '../../graphql/enums.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { userById } from '../../identity/index.ts'
import { PokerStateType } from '../poker/graphql.ts'
import { spaceById } from '../space/loads.ts'
import { StandupStateType } from '../standup/types.ts'
import { TIMER_ENDS, type TimerEnd } from '../timer/timer.ts'
import { visibleRooms } from './access.ts'
import { databaseNow } from './change.ts'
import { RoomConfigType } from './config.ts'
import { type Participant, participantsOfRoom, peopleOfRoom } from './loads.ts'

export const TimerOnEndEnum = enumOf('TimerOnEnd', 'What the server does when the timer ends.', TIMER_ENDS)

type TimerColumns = { startedAt: string; endsAt: string; onEnd: TimerEnd }
const TimerType = builder.objectRef<TimerColumns>('Timer').implement({
  description: 'A room’s one timer, by the clock of `serverNow`.',
  fields: (t) => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it was started.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'When it ends, or ended.' }),
    onEnd: t.field({
      type: TimerOnEndEnum,
      description: 'What the server does at the end.',
      resolve: ({ onEnd }) => onEnd,
    }),
  }),
})

export const RoomParticipantType = builder.objectRef<Participant>('RoomParticipant').implement({
  description: 'Somebody who took part in the room, present or not.',
  fields: (t) => ({
    user: t.field({
      type: 'User',
      nullable: true,
      description: 'The person or agent.',
      resolve: ({ userId }, _args, context) => userById(context, userId),
    }),
    guest: t.boolean({
      description: 'Came by a link and is no member of the space.',
      resolve: async (row, _args, context) => row.guest ?? (await personIn(context, row))?.kind === 'guest',
    }),
    spectator: t.boolean({
      description: 'Watches and does not vote.',
      resolve: async (row, _args, context) => row.spectator ?? (await personIn(context, row))?.spectator ?? true,
    }),
    cofacilitator: t.exposeBoolean('cofacilitator', { description: 'Leads beside the facilitator.' }),
    present: t.boolean({
      description: 'Is connected now.',
      resolve: async (row, _args, context) => (await personIn(context, row))?.present ?? false,
    }),
    joinedAt: t.expose('joinedAt', { type: 'DateTime', description: 'When they first came.' }),
  }),
})

async function personIn(context: Context, { roomId, userId }: { roomId: string; userId: string }) {
  return (await peopleOfRoom(context, roomId))?.find((person) => person.userId === userId)
}

export const SERVER_NOW = {
  type: 'DateTime',
  description: 'The clock that timers run by; a client compares its own.',
  resolve: () => databaseNow(),
} as const

builder.prismaNode('Room', {
  description: 'A live or asynchronous ceremony. Members of its space see it, and guests of its links.',
  id: { resolve: (room) => room.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...visibleRooms(context) }),
  fields: (t) => ({
    space: t.field({
      type: 'Space',
      nullable: true,
      description: 'Null for guests.',
      resolve: ({ spaceId }, _args, context) =>
        context.caller?.standing === 'GUEST' || context.audience?.of === 'guests' ? null : spaceById(context, spaceId),
    }),
    kind: t.exposeString('kind', { description: 'Such as `poker`.' }),
    title: t.exposeString('title', { description: 'What people call it.' }),
    phase: t.exposeString('phase', {
      description:
        'Of poker: `active` or `done`; of a standup: `gather`, `speak` or `done`; of a plugin’s kind those it declares.',
    }),
    version: t.field({
      type: 'BigInt',
      description: 'Rises by one with every change; `roomEvents` continues from it.',
      resolve: ({ version }) => version,
    }),
    config: t.field({
      type: RoomConfigType,
      description: 'What it was set up with.',
      resolve: ({ kind, config }) => ({ kind, config }) as never,
    }),
    facilitator: t.field({
      type: 'User',
      nullable: true,
      description: 'Who leads it; null when nobody does.',
      resolve: ({ facilitatorId }, _args, context) => (facilitatorId ? userById(context, facilitatorId) : null),
    }),
    cofacilitators: t.field({
      type: ['User'],
      ...costOfRows(5),
      description: 'Who leads it beside the facilitator, at most 5.',
      resolve: async ({ id }, _args, context) => {
        const rows = (await participantsOfRoom(context, id))?.filter(({ cofacilitator }) => cofacilitator) ?? []
        const users = await Promise.all(rows.map(({ userId }) => userById(context, userId)))
        return users.filter((user) => user !== null)
      },
    }),
    participants: t.field({
      type: [RoomParticipantType],
      ...costOfRows(20),
      description: 'Everybody who took part, at most 200, in the order they came.',
      resolve: async ({ id }, _args, context) => (await participantsOfRoom(context, id)) ?? [],
    }),
    presentUserIds: t.globalIDList({
      description: 'Who is connected now.',
      resolve: async ({ id }, _args, context) => {
        const people = (await peopleOfRoom(context, id))?.filter(({ present }) => present) ?? []
        return people.map(({ userId }) => ({ type: 'User', id: userId }))
      },
    }),
    timer: t.field({
      type: TimerType,
      nullable: true,
      description: 'The one that runs or has run out; null when none was started or it was stopped.',
      resolve: ({ timerStartedAt: startedAt, timerEndsAt: endsAt, timerOnEnd: onEnd }) =>
        startedAt && endsAt ? { startedAt, endsAt, onEnd: onEnd as TimerEnd } : null,
    }),
    serverNow: t.field(SERVER_NOW),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'Null while it goes on.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was opened.' }),
    poker: t.field({
      type: PokerStateType,
      nullable: true,
      description: 'The table, where its kind is `poker`.',
      resolve: (room) => (room.kind === 'poker' ? room : null),
    }),
    standup: t.field({
      type: StandupStateType,
      nullable: true,
      description: 'Who says what and who has the turn, where its kind is `standup`.',
      resolve: (room) => (room.kind === 'standup' ? room : null),
    }),
  }),
})

const read = argumentsOf({ id: arg.id('Room') })
builder.queryField('room', (t) =>
  t.prismaField({
    type: 'Room',
    nullable: true,
    args: read.args,
    authScopes: { needs: 'standing', scope: 'rooms:read' },
    description: 'A room that the caller may see, or null.',
    resolve: (query, _root, args, context) =>
      prisma.room.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id: read.values(args).id }, ...visibleRooms(context) },
      }),
  }),
)
