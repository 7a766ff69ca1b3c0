import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'
import { inRoom } from '../space/projection.ts'

export const roomActed = defineEvent('room.acted', {
  category: 'audit_only',
  description: 'Somebody did in a room what the plugin behind its kind lets people do.',
  payload: z.strictObject({ action: z.string(), phase: z.string() }),
  projection: inRoom,
})
