import { arg } from '../../graphql/arguments.ts'
import { mutation } from '../../graphql/mutation.ts'
import { claimFacilitator } from './claim-facilitator.ts'
import { configInput } from './config-input.ts'
import { createRoom } from './create-room.ts'
import { deleteRoom } from './delete-room.ts'
import { endRoom } from './end-room.ts'
import { FacilitatorPresentError, KindRetiredError, ROOM_ERRORS } from './errors.ts'
import { SERVER_NOW } from './graphql.ts'
import { leaveRoom } from './leave-room.ts'
import { roomField } from './payload-fields.ts'
import { renameRoom } from './rename-room.ts'
import { reopenRoom } from './reopen-room.ts'
import { sendHeartbeat } from './send-heartbeat.ts'

const roomId = arg.id('Room')
const title = arg.text({ max: 200 })
const connectionId = arg.uuid().describe('As given to `roomEvents`; one a tab.')

mutation('roomCreate', {
  description: 'Opens a room in a space, led by the caller: any member who writes in the org, or an anonymous person.',
  input: {
    spaceId: arg.id('Space'),
    kind: arg.text({ max: 64 }).describe('One of `Space.kinds`, such as `poker`.'),
    title,
    config: configInput.describe('What a room of that kind is set to.'),
  },
  errors: [KindRetiredError],
  needs: 'user',
  scope: 'rooms:write',
  run: createRoom,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('roomRename', {
  description: 'Gives a room another title. Hosts may.',
  input: { roomId, title },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: renameRoom,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('roomEnd', {
  description: 'Ends a room; its timer stops. Hosts and the owners of the space may.',
  input: { roomId },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: endRoom,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('roomReopen', {
  description:
    'Lets a room that has ended go on: poker with the story that was on the table, a standup from gathering. Hosts and owners may.',
  input: { roomId },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: reopenRoom,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('roomDelete', {
  description: 'Deletes a room and what is in it; streams end. The facilitator and the owners of the space may.',
  input: { id: roomId },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: deleteRoom,
  payload: (t) => ({
    roomId: t.globalID({
      description: 'Of the room that is gone.',
      resolve: (deleted) => ({ type: 'Room', id: deleted.roomId }),
    }),
  }),
})

mutation('roomHeartbeat', {
  description:
    'Says that a connection is still there. Send it every 15 s; after 45 s without one the person is absent.',
  input: { roomId, connectionId },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: sendHeartbeat,
  payload: (t) => ({ room: roomField(t), serverNow: t.field(SERVER_NOW) }),
})

mutation('roomLeave', {
  description: 'Says that a connection is gone. With another one open the person stays present.',
  input: { roomId, connectionId },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: leaveRoom,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('roomFacilitatorClaim', {
  description: 'Takes the lead of a room that nobody leads, or whose facilitator was not seen for more than a minute.',
  input: { roomId },
  errors: [FacilitatorPresentError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: claimFacilitator,
  payload: (t) => ({ room: roomField(t) }),
})
