import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'

/** For which day and what is the author's alone until the day opens (ROOM-8, 129). */
export const aheadSaved = defineEvent('standup.ahead_saved', {
  category: 'audit_only',
  description: 'Somebody wrote, changed or took back an answer ahead of a scheduled standup; for that person alone.',
  payload: z.strictObject({}),
})
