import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder } from '../../graphql/builder.ts'
import type { RoomEvent } from './event-payloads.ts'
import { RoomEventInterface } from './event-type.ts'
import './member-events.ts'
import './plugin-events.ts'
import './poker-events.ts'
import './room-events.ts'
import './standup-events.ts'
import { subscribeToRoom } from './subscribe.ts'

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
    extensions: { needs: 'user', scope: 'rooms:read' },
    subscribe: (_root, args, context, info) => subscribeToRoom(context, read.values(args), info.schema) as never,
    resolve: (roomEvent) => roomEvent as RoomEvent,
  }),
)
