import { execute } from '@graphql-tools/executor'
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { Lane } from '../db/operation.ts'
import { type Context, scopeOf } from '../graphql/context.ts'
import { maskError } from './masking.ts'

/** Runs one query, one document of mutations or one subscription event in a lane of its own (PLAT-5, 6). */
export async function executeOperation(args: ExecutionArgs, log: Logger): Promise<ExecutionResult> {
  const context = args.contextValue as Context
  const lane = new Lane('read', scopeOf(context.caller, context.requestId))
  try {
    const result = (await lane.run(() => execute(args as never))) as ExecutionResult
    return masked(result, context.requestId, log)
  } finally {
    // Nothing of a read depends on its COMMIT, so the answer does not wait for it.
    lane
      .end('COMMIT')
      .catch((error: unknown) => log.warn({ err: error, requestId: context.requestId }, 'read did not end cleanly'))
  }
}

export function masked(result: ExecutionResult, requestId: string, log: Logger): ExecutionResult {
  if (!result.errors) return result
  const errors: GraphQLError[] = result.errors.map((error) => maskError(error, requestId, log))
  return { ...result, errors }
}
