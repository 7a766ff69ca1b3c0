import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'

export const userUpdated = defineEvent('user.updated', {
  category: 'activity',
  deliverable: true,
  description: 'Somebody changed their own profile; the names of the fields, not what they say.',
  payload: z.strictObject({ fields: z.array(z.enum(['displayName', 'avatarIcon', 'notificationSounds'])) }),
})
