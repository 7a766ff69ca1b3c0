import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'

/** Which days is nobody's business, so the fact says no more than that (ROOM-8, 180). */
export const awaySaved = defineEvent('standup.away_saved', {
  category: 'audit_only',
  description: 'Somebody added or removed days on which they are away; for that person alone.',
  payload: z.strictObject({}),
})
