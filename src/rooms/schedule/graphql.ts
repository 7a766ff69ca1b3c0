import { prisma } from '../../db/prisma.ts'
import type { StandupSlot } from '../../generated/prisma/client.ts'
import { arg } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { connectionType } from '../../graphql/connection.ts'
import { enumOf } from '../../graphql/enums.ts'
import type { SortKey } from '../../graphql/keyset.ts'
import { mutation } from '../../graphql/mutation.ts'
import { relatedPage } from '../../graphql/related-page.ts'
import { userById } from '../../identity/index.ts'
import { roomById } from '../room/loads.ts'
import { inVisibleSpace } from '../space/access.ts'
import { seesSpace } from '../space/loads.ts'
import { spaceField } from '../space/payload-fields.ts'
import { StandupStateType } from '../standup/types.ts'
import { scheduleOfSpace, slotDateOfRoom } from './loads.ts'
import { SLOT_OUTCOMES, type SlotOutcome } from './outcome.ts'
import { setSchedule } from './set-schedule.ts'
import { timeZones } from './zones.ts'

const SlotOutcomeEnum = enumOf(
  'StandupSlotOutcome',
  'What became of a day that a standup was scheduled for.',
  SLOT_OUTCOMES,
)

builder.prismaObject('StandupSlot', {
  description: 'A day that a standup was scheduled for, once its time had come.',
  fields: (t) => ({
    slotDate: t.expose('slotDate', { type: 'Date', description: 'By the calendar of the schedule’s zone.' }),
    outcome: t.field({
      type: SlotOutcomeEnum,
      description: 'Whether a standup opened.',
      resolve: ({ outcome }) => outcome as SlotOutcome,
    }),
    opensAt: t.expose('opensAt', { type: 'DateTime', description: 'When it was due.' }),
    closesAt: t.expose('closesAt', { type: 'DateTime', description: 'When its window ends.' }),
    room: t.field({
      type: 'Room',
      nullable: true,
      description: 'The standup; null where none opened, or it was deleted.',
      resolve: ({ roomId }, _args, context) => (roomId ? roomById(context, roomId) : null),
    }),
  }),
})

const [SlotConnection, SlotEdge] = connectionType('StandupSlot', 'StandupSlot')
const LATEST_FIRST: readonly SortKey[] = [{ field: 'slotDate', type: 'day', descending: true }]

builder.prismaNode('StandupSchedule', {
  description: 'When a space’s standups open by themselves. Members of the space see it.',
  id: { resolve: (schedule) => schedule.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...inVisibleSpace(context) }),
  fields: (t) => ({
    weekdays: t.intList({
      description: 'On which days of the week: 0 is Sunday, 6 Saturday.',
      resolve: ({ weekdays }) => weekdays,
    }),
    openTime: t.string({
      description: 'At which time of day in its zone, such as `09:30`.',
      resolve: ({ openTime }) => openTime.slice(0, 5),
    }),
    timezone: t.exposeString('timezone', { description: 'The zone that days and time are of; one of `timeZones`.' }),
    windowMinutes: t.exposeInt('windowMinutes', { description: 'Minutes after which a standup closes by itself.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Standups open. Off, none does, and an open one stays.' }),
    updatedBy: t.field({
      type: 'User',
      nullable: true,
      description: 'Who saved it last, and leads the standups while they own the space.',
      resolve: ({ updatedById }, _args, context) => (updatedById ? userById(context, updatedById) : null),
    }),
    nextOpenAt: t.expose('nextOpenAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next standup opens; null while it is off.',
    }),
    slots: t.connection(
      {
        type: 'StandupSlot',
        description: 'The days whose time has come, the latest first.',
        resolve: ({ id }, args, context, info) =>
          relatedPage<StandupSlot>({
            context,
            info,
            id,
            type: 'StandupSlot',
            relation: 'slots',
            args,
            order: LATEST_FIRST,
            where: { schedule: inVisibleSpace(context) },
            parents: (query) => prisma.standupSchedule.findMany(query),
          }),
      },
      SlotConnection,
      SlotEdge,
    ),
  }),
})

builder.prismaObjectField('Space', 'schedule', (t) =>
  t.field({
    type: 'StandupSchedule',
    nullable: true,
    description: 'When its standups open by themselves; null while that was never set. For members.',
    resolve: async ({ id }, _args, context) => ((await seesSpace(context, id)) ? scheduleOfSpace(context, id) : null),
  }),
)

builder.objectField(StandupStateType, 'slotDate', (t) =>
  t.field({
    type: 'Date',
    nullable: true,
    description: 'The day that a schedule opened it for; null where somebody opened it, and for guests.',
    resolve: ({ id }, _args, context) => slotDateOfRoom(context, id),
  }),
)

builder.queryField('timeZones', (t) =>
  t.stringList({
    nullable: true,
    authScopes: { needs: 'participant' },
    description: 'The zones that a schedule can have.',
    resolve: timeZones,
  }),
)

mutation('standupScheduleSet', {
  description:
    'Sets when a space’s standups open by themselves. The first is the next one due: an edit after today’s time opens ' +
    'nothing today. An open standup keeps its window. Owners of the space may.',
  input: {
    spaceId: arg.id('Space'),
    weekdays: arg.list(arg.int(0, 6), 7).describe('On which days of the week: 0 is Sunday, 6 Saturday.'),
    openTime: arg.exact(8).describe('At which time of day in the zone, such as `09:30`.'),
    timezone: arg.exact(64).describe('One of `timeZones`, in any case.'),
    windowMinutes: arg.int(1, 1_440).describe('Minutes after which a standup closes by itself, 1 to 1440.'),
    enabled: arg.boolean().describe('Standups open.'),
  },
  needs: 'user',
  scope: 'rooms:write',
  run: setSchedule,
  payload: (t) => ({
    space: spaceField(t),
    schedule: t.field({
      type: 'StandupSchedule',
      nullable: true,
      description: 'The schedule as it is now; null once the space is no longer the caller’s.',
      resolve: async ({ spaceId }, _args, context) =>
        (await seesSpace(context, spaceId)) ? scheduleOfSpace(context, spaceId) : null,
    }),
  }),
})
