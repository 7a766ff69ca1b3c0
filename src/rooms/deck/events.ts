import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { inSpace } from '../space/projection.ts'

const deckId = nodeId('Deck')

export const deckCreated = defineEvent('deck.created', {
  category: 'audit_only',
  description: 'A deck of a space was made.',
  payload: z.strictObject({ deckId }),
  projection: inSpace,
})

export const deckUpdated = defineEvent('deck.updated', {
  category: 'audit_only',
  description: 'A deck of a space changed; the names of the fields, not what they say.',
  payload: z.strictObject({ deckId, fields: z.array(z.enum(['name', 'cards', 'ordinal'])) }),
  projection: inSpace,
})

export const deckDeleted = defineEvent('deck.deleted', {
  category: 'audit_only',
  description: 'A deck of a space was deleted; rooms keep their cards.',
  payload: z.strictObject({ deckId }),
  projection: inSpace,
})
