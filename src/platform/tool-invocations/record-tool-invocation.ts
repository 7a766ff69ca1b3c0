import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { AgentCaller } from '../../graphql/caller.ts'
import { scopeOf } from '../../graphql/context.ts'
import { toolCallsUnrecorded } from '../../lib/metrics.ts'
import { redactText } from '../../lib/redact.ts'
import { truncateText } from '../../lib/truncate.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../audit/record.ts'
import { agentToolInvoked } from './events.ts'
import { toolInvocationSettings } from './settings.ts'
import { storableText, storedArguments } from './stored-arguments.ts'

export type ToolCall = {
  toolName: string
  /** As the agent gave them. */
  arguments: unknown
  /** Global id of the gate's action that the call became: there its arguments have their one place. */
  actionId?: string | undefined
  /** Why it was refused or failed, as a code; null when it succeeded. */
  errorCode: string | null
  errorMessage?: string | undefined
  durationMs: number
  requestId: string
}

const TOOL_NAME = /^[a-z][a-z0-9_.-]{0,127}$/
const ERROR_CODE = /^[A-Z_]{1,90}$/
const MESSAGE_BYTES = 1_024

/**
 * Keeps an agent's call of a tool when it has ended, refused and failed ones too, and records the fact (PLAT-21). Gives the
 * row's id; null when it could not be kept, which is counted and logged and fails nothing.
 */
export async function recordToolInvocation(caller: AgentCaller, call: ToolCall): Promise<string | null> {
  try {
    return await operation('write', scopeOf(caller, call.requestId), () => keep(caller, call))
  } catch (error) {
    toolCallsUnrecorded.inc()
    toolInvocationSettings().log.error({ err: error, requestId: call.requestId }, 'a tool call could not be recorded')
    return null
  }
}

async function keep(caller: AgentCaller, call: ToolCall): Promise<string> {
  const id = newId()
  // A tool that nobody has may be called anything.
  const tool = TOOL_NAME.test(call.toolName) ? call.toolName : 'unknown'
  const status = statusOf(call.errorCode)
  const durationMs = Math.min(Math.max(0, Math.round(call.durationMs)), 2 ** 31 - 1)
  const given = call.actionId === undefined ? call.arguments : { action: call.actionId }
  await sql`
    INSERT INTO platform.tool_invocations (org_id, id, agent_id, api_key_id, request_id, tool_name, arguments,
      result_status, error_message, duration_ms)
    VALUES (${caller.orgId}, ${id}, ${caller.userId}, ${caller.keyId}, ${call.requestId}, ${tool},
      ${JSON.stringify(storedArguments(given))}::jsonb, ${status}, ${messageOf(call.errorMessage)}, ${durationMs})`
  await record(caller, agentToolInvoked, {
    target: { kind: 'Agent', id: caller.userId },
    toolInvocationId: id,
    payload: { tool, status, durationMs },
  })
  return id
}

function statusOf(errorCode: string | null): string {
  if (errorCode === null) return 'ok'
  return `error.${ERROR_CODE.test(errorCode) ? errorCode : 'INTERNAL'}`
}

function messageOf(message: string | undefined): string | null {
  return message === undefined ? null : truncateText(storableText(redactText(message)), MESSAGE_BYTES)
}
