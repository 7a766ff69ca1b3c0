import { z } from 'zod'
import { defineEvent } from '../audit/registry.ts'

export const agentToolInvoked = defineEvent('agent.tool_invoked', {
  category: 'audit_only',
  description: 'An agent called a tool; what with is in the tool log, for as long as that is kept.',
  payload: z.strictObject({ tool: z.string(), status: z.string(), durationMs: z.int() }),
})
