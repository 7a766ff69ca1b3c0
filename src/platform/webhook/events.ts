import { z } from 'zod'
import { nodeId } from '../audit/node-ids.ts'
import { defineEvent } from '../audit/registry.ts'

const scope = z.enum(['org', 'space'])
const webhookId = nodeId('Webhook')

export const webhookCreated = defineEvent('webhook.created', {
  category: 'audit_only',
  description: 'An endpoint was made, for the whole org or for one space.',
  payload: z.strictObject({ scope }),
})

export const webhookUpdated = defineEvent('webhook.updated', {
  category: 'audit_only',
  description: 'An endpoint got another address or other event types, or was switched on or off.',
  payload: z.strictObject({ fields: z.array(z.enum(['url', 'eventTypes', 'isActive'])), isActive: z.boolean() }),
})

export const webhookDeleted = defineEvent('webhook.deleted', {
  category: 'audit_only',
  description: 'An endpoint was deleted with what it was still owed.',
  payload: z.strictObject({ scope }),
})

export const webhookSecretRotated = defineEvent('webhook.secret_rotated', {
  category: 'audit_only',
  description: 'An endpoint got another secret; the old one signs too for that many hours.',
  payload: z.strictObject({ graceHours: z.int() }),
})

export const webhookDisabled = defineEvent('webhook.disabled', {
  category: 'audit_only',
  deliverable: true,
  description: 'An endpoint was switched off because it kept failing for five days, or said that it is gone.',
  payload: z.strictObject({ webhookId, reason: z.enum(['failing', 'gone']) }),
})

export const webhookTested = defineEvent('webhook.test', {
  category: 'audit_only',
  deliverable: true,
  description: 'Somebody asked for a test delivery. It goes to that endpoint alone, whatever its event types.',
  payload: z.strictObject({ webhookId }),
})

export const deliveryRedelivered = defineEvent('webhook_delivery.redelivered', {
  category: 'audit_only',
  description: 'A delivery that had ended is sent once more.',
  payload: z.strictObject({ webhookId, eventId: nodeId('AuditEvent') }),
})
