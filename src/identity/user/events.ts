import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'

const ofOperator = { category: 'audit_only', durable: true, payload: z.strictObject({}) } as const

export const userErased = defineEvent('user.erased', {
  ...ofOperator,
  description: 'Somebody was erased: what they wrote stays, and says no more who they were.',
})

export const userDisabled = defineEvent('user.disabled', {
  ...ofOperator,
  description: 'The operator let somebody in no more.',
})

export const userEnabled = defineEvent('user.enabled', {
  ...ofOperator,
  description: 'The operator let somebody in again.',
})

export const userUpdated = defineEvent('user.updated', {
  category: 'activity',
  deliverable: true,
  description: 'Somebody changed their own profile; the names of the fields, not what they say.',
  payload: z.strictObject({ fields: z.array(z.enum(['displayName', 'avatarIcon', 'notificationSounds'])) }),
})
