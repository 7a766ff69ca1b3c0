import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { seesSpace } from '../space/loads.ts'
import { readTrend, type TrendWeek } from './read-trend.ts'

const TrendWeekType = builder.objectRef<TrendWeek>('StandupTrendWeek').implement({
  description: 'How a space’s scheduled standups were answered in one week.',
  fields: (t) => ({
    startsOn: t.expose('startsOn', { type: 'Date', description: 'Its Monday.' }),
    answeredPercent: t.exposeFloat('answeredPercent', {
      nullable: true,
      description:
        'Of those who could have answered, in percent with one decimal, how many did. Days with fewer than four do not ' +
        'count; null for a week without others.',
    }),
  }),
})

const WEEKS_MAX = 26
const WEEKS = 12
const read = argumentsOf({
  spaceId: arg.id('Space'),
  weeks: arg
    .int(1, WEEKS_MAX)
    .optional()
    .describe('How many weeks back, 1 to 26, the running one included; 12 when left out.'),
})

builder.queryField('standupTrend', (t) =>
  t.field({
    type: [TrendWeekType],
    nullable: true,
    args: read.args,
    authScopes: { needs: 'participant', scope: 'rooms:read' },
    ...costOfRows(WEEKS_MAX),
    description:
      'How a space’s scheduled standups were answered week by week, the running one last; null where the caller is no ' +
      'member. A day counts once its standup has ended or the day has passed, and never changes.',
    resolve: async (_root, args, context) => {
      const { spaceId, weeks = WEEKS } = read.values(args)
      return (await seesSpace(context, spaceId)) ? readTrend(callerOf(context).orgId, spaceId, weeks) : null
    },
  }),
)
