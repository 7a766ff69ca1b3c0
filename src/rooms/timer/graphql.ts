import { arg } from '../../graphql/arguments.ts'
import { mutation } from '../../graphql/mutation.ts'
import { ROOM_ERRORS } from '../room/errors.ts'
import { SERVER_NOW, TimerOnEndEnum } from '../room/graphql.ts'
import { roomField } from '../room/payload-fields.ts'
import { extendTimer } from './extend-timer.ts'
import { startTimer } from './start-timer.ts'
import { stopTimer } from './stop-timer.ts'

const roomId = arg.id('Room')

mutation('roomTimerStart', {
  description: 'Starts the timer of a room, by the database’s clock; one that runs is replaced. Hosts may.',
  input: {
    roomId,
    seconds: arg.int(10, 3_600).describe('How long it runs, 10 to 3600.'),
    onEnd: arg
      .enum(TimerOnEndEnum)
      .optional()
      .describe('`REVEAL` opens the round if it has a vote. Default: `NONE`, nothing happens on the server.'),
  },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: startTimer,
  payload: (t) => ({ room: roomField(t), serverNow: t.field(SERVER_NOW) }),
})

mutation('roomTimerExtend', {
  description: 'Moves the end of the timer, from now if it is past. Hosts may.',
  input: { roomId, seconds: arg.int(10, 600).describe('By how much, 10 to 600.') },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: extendTimer,
  payload: (t) => ({ room: roomField(t), serverNow: t.field(SERVER_NOW) }),
})

mutation('roomTimerStop', {
  description: 'Stops the timer. Hosts may.',
  input: { roomId },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: stopTimer,
  payload: (t) => ({ room: roomField(t), serverNow: t.field(SERVER_NOW) }),
})
