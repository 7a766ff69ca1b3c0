import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'

/** Whom they asked is theirs alone (ROOM-108). */
export const standupMentioned = defineEvent('standup.mentioned', {
  category: 'audit_only',
  description: 'Somebody asked a member for help in a standup, or took that back; for that person alone.',
  payload: z.strictObject({}),
})
