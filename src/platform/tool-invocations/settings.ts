import type { Logger } from 'pino'

export type ToolInvocationSettings = {
  /** Milliseconds that a call is kept. */
  retention: number
  log: Pick<Logger, 'error'>
}

let current: ToolInvocationSettings | undefined

/** Called once at start. */
export function configureToolInvocations(settings: ToolInvocationSettings): void {
  current = settings
}

export function toolInvocationSettings(): ToolInvocationSettings {
  if (!current) throw new Error('the log of tool calls is not configured')
  return current
}
