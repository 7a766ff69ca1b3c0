import { currentLane } from '../db/operation.ts'
import type { Caller } from './caller.ts'
import { type Context, scopeOf } from './context.ts'

/** From here on the document runs as `caller`: its payload and what follows see what that caller sees. */
export function become(context: Context, caller: Caller | null): void {
  context.caller = caller
  currentLane().scope = scopeOf(caller, context.requestId)
}
