import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'
import { inRoom } from '../space/projection.ts'
import { TIMER_ENDS } from './timer.ts'

export const timerSet = defineEvent('room.timer_set', {
  category: 'audit_only',
  description: 'A room’s timer was started, extended or stopped.',
  payload: z.strictObject({
    change: z.enum(['started', 'extended', 'stopped']),
    seconds: z.int().nullable(),
    onEnd: z.enum(TIMER_ENDS),
  }),
  projection: inRoom,
})
