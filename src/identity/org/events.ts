import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'

export const orgCreated = defineEvent('org.created', {
  category: 'audit_only',
  durable: true,
  deliverable: true,
  description: 'The org came to be, with its first owner.',
  payload: z.strictObject({ ownerId: nodeId('User'), allowAnonymous: z.boolean() }),
})
