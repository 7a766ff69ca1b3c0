import { perViewer } from '../../graphql/per-viewer.ts'
import { stateSeen } from '../plugin/graphql.ts'
import { roomById } from '../room/loads.ts'
import { event } from './event-type.ts'

event('RoomActionApplied', 'Somebody did what the plugin behind the room’s kind lets people do.', (t) => ({
  action: t.string({ description: 'What they did.', resolve: ({ payload }) => payload.action }),
  phase: t.string({ description: 'The phase it led to or stayed in.', resolve: ({ payload }) => payload.phase }),
  state: t.field({
    type: 'JSON',
    nullable: true,
    ...perViewer('As `Room.state` is when this is sent; null where a later event of this type brings it.'),
    resolve: async ({ roomId, payload }, _args, context) => {
      const room = payload.newest ? await roomById(context, roomId) : null
      return room && stateSeen(context, room)
    },
  }),
}))
