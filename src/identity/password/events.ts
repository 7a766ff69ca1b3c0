import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'

export const passwordChanged = defineEvent('user.password_changed', {
  category: 'audit_only',
  description: 'Somebody gave themself a new password; their other sessions ended with it.',
  payload: z.strictObject({}),
})
