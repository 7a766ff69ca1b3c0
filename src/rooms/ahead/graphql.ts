import { prisma } from '../../db/prisma.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import type { Context } from '../../graphql/context.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { mutation } from '../../graphql/mutation.ts'
import { inVisibleSpace } from '../space/access.ts'
import { deleteAheadEntry } from './delete-entry.ts'
import { saveAheadEntry } from './save-entry.ts'

/** Nobody but the author; row security holds the same (ROOM-129). */
const own = ({ caller, audience }: Context): object => ({
  userId: { in: caller?.userId && !audience ? [caller.userId] : [] },
})

builder.prismaObject('AheadEntry', {
  description: 'What the viewer wrote for a standup that has not opened. Nobody else sees it until it does.',
  fields: (t) => ({
    day: t.expose('day', { type: 'Date', description: 'By the calendar of the schedule’s zone.' }),
    yesterday: t.exposeString('yesterday', { description: 'What they did; empty for nothing said.' }),
    today: t.exposeString('today', { description: 'What they will do; empty for nothing said.' }),
    blockers: t.exposeString('blockers', { description: 'What is in their way; empty for nothing said.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was written last.' }),
  }),
})

const read = argumentsOf({ spaceId: arg.id('Space') })
builder.queryField('myAhead', (t) =>
  t.prismaField({
    type: ['AheadEntry'],
    nullable: true,
    args: read.args,
    authScopes: { needs: 'participant', scope: 'rooms:read' },
    ...costOfRows(10),
    description: 'What the caller wrote ahead for the standups of a space, the next day first.',
    resolve: (query, _root, args, context) =>
      prisma.aheadEntry.findMany({
        ...query,
        where: {
          orgId: callerOf(context).orgId,
          ...own(context),
          schedule: { spaceId: read.values(args).spaceId, ...inVisibleSpace(context) },
        },
        orderBy: { day: 'asc' },
      }),
  }),
)

const scheduleId = arg.id('StandupSchedule')
const day = arg.date().describe('A day of the schedule that has not opened, at most 7 days ahead.')
const text = arg.text({ min: 0, max: 2_000 }).optional().describe('At most 2000 characters; what is left out stays.')

mutation('standupAheadPut', {
  description:
    'Writes the caller’s answer for a scheduled standup before it opens; it becomes their entry when it does. Nobody else ' +
    'sees it before. Members of the space may, but no spectators.',
  input: { scheduleId, day, yesterday: text, today: text, blockers: text },
  needs: 'participant',
  scope: 'rooms:write',
  run: saveAheadEntry,
  payload: (t) => ({
    aheadEntry: t.prismaField({
      type: 'AheadEntry',
      nullable: true,
      description: 'What is written now; null where nothing is, or the day has opened with it.',
      resolve: (query, { scheduleId, day }, _args, context) =>
        prisma.aheadEntry.findFirst({
          ...query,
          where: {
            orgId: callerOf(context).orgId,
            scheduleId,
            day,
            ...own(context),
            schedule: inVisibleSpace(context),
          },
        }),
    }),
  }),
})

mutation('standupAheadDelete', {
  description: 'Takes the caller’s own answer for a day back.',
  input: { scheduleId, day: arg.date() },
  needs: 'participant',
  scope: 'rooms:write',
  run: deleteAheadEntry,
  payload: (t) => ({
    scheduleId: t.globalID({
      description: 'Of which schedule.',
      resolve: ({ scheduleId }) => ({ type: 'StandupSchedule', id: scheduleId }),
    }),
    day: t.expose('day', { type: 'Date', description: 'The day without an answer now.' }),
  }),
})
