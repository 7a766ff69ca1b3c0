import { z } from 'zod'
import { KEY_SCOPES } from '../../graphql/caller.ts'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { KEY_MODES } from './secret.ts'

const change = { category: 'audit_only', durable: true, deliverable: true } as const
const prefix = z.string()

export const apiKeyCreated = defineEvent('api_key.created', {
  ...change,
  description: 'A key was made, of an agent or an admin key.',
  payload: z.strictObject({
    agentId: nodeId('Agent').nullable(),
    prefix,
    mode: z.enum(KEY_MODES),
    scopes: z.array(z.enum(KEY_SCOPES)),
  }),
})

export const apiKeyRotated = defineEvent('api_key.rotated', {
  ...change,
  description: 'A key got a successor; it goes on for the grace it was given.',
  payload: z.strictObject({ prefix, replacedBy: nodeId('ApiKey'), graceMinutes: z.int() }),
})

export const apiKeyRevoked = defineEvent('api_key.revoked', {
  ...change,
  description: 'A key holds no longer.',
  payload: z.strictObject({ prefix }),
})
