import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { FACILITATOR_REASONS, LEAVE_REASONS } from '../live/event-payloads.ts'
import { POKER_SETTINGS } from '../poker/poker-room.ts'
import { inRoom } from '../space/projection.ts'

const userId = nodeId('User')
const nothing = z.strictObject({})

export const roomCreated = defineEvent('room.created', {
  category: 'activity',
  deliverable: true,
  description: 'A room was opened in a space.',
  payload: z.strictObject({ kind: z.string() }),
  projection: inRoom,
})

export const roomEnded = defineEvent('room.ended', {
  category: 'activity',
  deliverable: true,
  description: 'A room ended.',
  payload: nothing,
  projection: inRoom,
})

export const roomReopened = defineEvent('room.reopened', {
  category: 'activity',
  deliverable: true,
  description: 'A room that had ended goes on.',
  payload: nothing,
  projection: inRoom,
})

export const roomDeleted = defineEvent('room.deleted', {
  category: 'activity',
  deliverable: true,
  description: 'A room was deleted with everything in it.',
  payload: z.strictObject({ kind: z.string() }),
  projection: inRoom,
})

export const roomUpdated = defineEvent('room.updated', {
  category: 'audit_only',
  description: 'A room was renamed.',
  payload: z.strictObject({ fields: z.array(z.enum(['title'])) }),
  projection: inRoom,
})

export const configSet = defineEvent('room.config_set', {
  category: 'audit_only',
  description: 'A setting of a poker room was turned on or off.',
  payload: z.strictObject({ setting: z.enum(POKER_SETTINGS), on: z.boolean() }),
  projection: inRoom,
})

export const facilitatorChanged = defineEvent('room.facilitator_changed', {
  category: 'audit_only',
  deliverable: true,
  description: 'Somebody else leads the room, or nobody.',
  payload: z.strictObject({
    facilitatorId: userId.nullable(),
    previousId: userId.nullable(),
    reason: z.enum(FACILITATOR_REASONS),
  }),
  projection: inRoom,
})

export const cofacilitatorSet = defineEvent('room.cofacilitator_set', {
  category: 'audit_only',
  description: 'Somebody leads beside the facilitator, or no longer does.',
  payload: z.strictObject({ userId, on: z.boolean() }),
  projection: inRoom,
})

export const participantJoined = defineEvent('room.participant_joined', {
  category: 'audit_only',
  description: 'Somebody came into a room for the first time.',
  payload: z.strictObject({ userId, guest: z.boolean() }),
  projection: inRoom,
})

export const participantLeft = defineEvent('room.participant_left', {
  category: 'audit_only',
  description: 'Somebody is no longer of a room.',
  payload: z.strictObject({ userId, reason: z.enum(LEAVE_REASONS) }),
  projection: inRoom,
})
