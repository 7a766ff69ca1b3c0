import { arg } from '../../graphql/arguments.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { ROOM_ERRORS } from './errors.ts'
import { handOverFacilitator } from './hand-over-facilitator.ts'
import { roomField } from './payload-fields.ts'
import { setCofacilitator } from './set-cofacilitator.ts'
import { setRoomConfig } from './set-room-config.ts'

const roomId = arg.id('Room')

const configChange = arg.oneOf(
  'RoomConfigChangeInput',
  {
    autoReveal: arg.boolean().optional().describe('The vote that completes a round reveals it.'),
    openVoting: arg
      .boolean()
      .optional()
      .describe(
        'The round waits for those who took part when it opened, present or not; turned on in an open round, for those ' +
          'who take part now.',
      ),
  },
  'One setting of a poker room. Its deck stays as it was made.',
)

mutation('roomConfigSet', {
  description:
    'Turns a setting of a poker room on or off. A round that is complete by it may reveal itself. Hosts may.',
  input: { roomId, change: configChange.describe('What is set.') },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: setRoomConfig,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('roomFacilitatorHandOver', {
  description: 'Gives the lead of a room to another member who may host, at once. The facilitator may.',
  input: { roomId, userId: arg.id('User').describe('Who leads from now on.') },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: handOverFacilitator,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('roomCofacilitatorSet', {
  description:
    'Lets a participant who may host lead beside the facilitator, or no longer. A room has at most 5 such. The ' +
    'facilitator may.',
  input: {
    roomId,
    userId: arg.id('User').describe('A participant of the room.'),
    on: arg.boolean().describe('Whether they lead.'),
  },
  errors: [LimitReachedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: setCofacilitator,
  payload: (t) => ({ room: roomField(t) }),
})
