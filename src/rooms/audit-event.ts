import { builder } from '../graphql/builder.ts'
import { perViewer } from '../graphql/per-viewer.ts'
import { roomById } from './room/loads.ts'
import { seesSpace, spaceById } from './space/loads.ts'

builder.prismaObjectField('AuditEvent', 'space', (t) =>
  t.field({
    type: 'Space',
    nullable: true,
    ...perViewer('Where it happened; null when that is gone or not the caller’s to see.'),
    resolve: async ({ spaceId }, _args, context) =>
      spaceId && (await seesSpace(context, spaceId)) ? spaceById(context, spaceId) : null,
  }),
)

builder.prismaObjectField('AuditEvent', 'room', (t) =>
  t.field({
    type: 'Room',
    nullable: true,
    ...perViewer('In which room; null when that is gone or not the caller’s to see.'),
    resolve: async ({ roomId }, _args, context) => {
      const room = roomId ? await roomById(context, roomId) : null
      if (!room) return null
      const isGuestOfIt = context.caller?.standing === 'GUEST' && context.caller.roomId === room.id
      return isGuestOfIt || (await seesSpace(context, room.spaceId)) ? room : null
    },
  }),
)
