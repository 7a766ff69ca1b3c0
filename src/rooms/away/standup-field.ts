import { builder } from '../../graphql/builder.ts'
import { encodeId } from '../../graphql/ids.ts'
import { StandupStateType } from '../standup/types.ts'
import { awayFromRoom } from './loads.ts'

builder.objectField(StandupStateType, 'awayUserIds', (t) =>
  t.field({
    type: ['ID'],
    nullable: true,
    description:
      'Members who are away on the day of a scheduled standup, while it is open and that day is today in the zone of the ' +
      'schedule; null at any other time, of other standups, and for guests.',
    resolve: async ({ id, endedAt }, _args, context) => {
      const isGuest = context.caller?.standing === 'GUEST' || context.audience?.of === 'guests'
      if (isGuest || endedAt !== null) return null
      const away = await awayFromRoom(context, id)
      return away?.map((userId) => encodeId('User', userId)) ?? null
    },
  }),
)
