import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import type { Context } from '../../graphql/context.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { mutation } from '../../graphql/mutation.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import { addAwayRange } from './add-range.ts'
import { deleteAwayRange } from './delete-range.ts'

/** Nobody but the person; row security holds the same (ROOM-130). */
const own = ({ caller, audience }: Context): object =>
  caller?.userId && !audience ? { userId: caller.userId } : NO_ROWS

builder.prismaNode('AwayRange', {
  description: 'Days on which the viewer takes part in no standup of the org. Nobody else sees it.',
  id: { resolve: (range) => range.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...own(context) }),
  fields: (t) => ({
    startsOn: t.expose('startsOn', { type: 'Date', description: 'The first day.' }),
    endsOn: t.expose('endsOn', { type: 'Date', description: 'The last day.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
  }),
})

builder.queryField('myAway', (t) =>
  t.prismaField({
    type: ['AwayRange'],
    nullable: true,
    authScopes: { needs: 'participant', scope: 'rooms:read' },
    ...costOfRows(20),
    description: 'When the caller is away, the earliest first; at most 50 ranges, past ones included.',
    resolve: (query, _root, _args, context) =>
      prisma.awayRange.findMany({
        ...query,
        where: { orgId: callerOf(context).orgId, ...own(context) },
        orderBy: [{ startsOn: 'asc' }, { id: 'asc' }],
      }),
  }),
)

mutation('awayAdd', {
  description:
    'Says that the caller is away on these days, in all spaces of the org. They count as nobody who could have answered ' +
    'a scheduled standup. At most 90 days a range, and 50 ranges.',
  input: {
    startsOn: arg.date().describe('The first day.'),
    endsOn: arg.date().describe('The last day, which may be the first.'),
  },
  errors: [LimitReachedError],
  needs: 'participant',
  scope: 'rooms:write',
  run: addAwayRange,
  payload: (t) => ({
    awayRange: t.prismaField({
      type: 'AwayRange',
      nullable: true,
      description: 'The range.',
      resolve: (query, { rangeId: id }, _args, context) =>
        prisma.awayRange.findUnique({
          ...query,
          where: { orgId_id: { orgId: callerOf(context).orgId, id }, ...own(context) },
        }),
    }),
  }),
})

mutation('awayDelete', {
  description: 'Takes one of the caller’s own ranges back. What was counted with it stays counted.',
  input: { id: arg.id('AwayRange') },
  needs: 'participant',
  scope: 'rooms:write',
  run: deleteAwayRange,
  payload: (t) => ({
    awayRangeId: t.globalID({
      description: 'Of the range that is gone.',
      resolve: ({ rangeId }) => ({ type: 'AwayRange', id: rangeId }),
    }),
  }),
})
