import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { inRoom } from '../space/projection.ts'

const payload = z.strictObject({ commitmentId: nodeId('Commitment'), carried: z.int().min(0) })

export const commitmentAdded = defineEvent('commitment.added', {
  category: 'activity',
  deliverable: true,
  description: 'Somebody committed to something in a standup.',
  payload,
  projection: inRoom,
})

export const commitmentLanded = defineEvent('commitment.landed', {
  category: 'activity',
  deliverable: true,
  description: 'Something that somebody committed to is done.',
  payload,
  projection: inRoom,
})

export const commitmentDropped = defineEvent('commitment.dropped', {
  category: 'audit_only',
  description: 'Somebody gave up what they had committed to.',
  payload,
  projection: inRoom,
})

export const commitmentCarried = defineEvent('commitment.carried', {
  category: 'audit_only',
  description: 'Something that somebody committed to is not done yet, and was carried into one more standup.',
  payload,
  projection: inRoom,
})

export const commitmentReopened = defineEvent('commitment.reopened', {
  category: 'audit_only',
  description: 'What was closed in this standup is open again.',
  payload,
  projection: inRoom,
})
