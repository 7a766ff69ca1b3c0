import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'

const ofPerson = { category: 'audit_only', payload: z.strictObject({}) } as const

export const feedMinted = defineEvent('calendar_feed.minted', {
  ...ofPerson,
  description: 'Somebody made an address for their calendar, in place of the one before; for that person alone.',
})

export const feedUpdated = defineEvent('calendar_feed.updated', {
  ...ofPerson,
  description: 'Somebody set how early their calendar reminds them; for that person alone.',
})

export const feedRevoked = defineEvent('calendar_feed.revoked', {
  ...ofPerson,
  description:
    'The address of somebody’s calendar ended, by their wish or with their membership; for that person alone.',
})
