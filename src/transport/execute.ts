import { execute } from '@graphql-tools/executor'
import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { databaseErrorOf, Lane } from '../db/operation.ts'
import { type Context, scopeOf } from '../graphql/context.ts'
import { framesRendered } from '../lib/metrics.ts'
import { maskError } from './masking.ts'

/** Runs one query or one document of mutations in a lane of its own (PLAT-5, 6). */
export function executeOperation(args: ExecutionArgs, log: Logger): Promise<ExecutionResult> {
  return executeInLane(args, log, (result) => result)
}

/**
 * Runs one event of a subscription in a lane of its own. One that the database failed to tell is thrown: sent with a hole
 * in it, the event would be lost, while a stream that ends is continued by its peer (PLAT-17).
 */
export function executeEvent(args: ExecutionArgs, log: Logger): Promise<ExecutionResult> {
  return executeInLane(args, log, (result, { operation }) => {
    framesRendered.inc()
    if (operation.broken) throw operation.fault ?? result.errors?.[0] ?? new Error('an event could not be read')
    return result
  })
}

type Check = (result: ExecutionResult, lane: Lane) => ExecutionResult

async function executeInLane(args: ExecutionArgs, log: Logger, check: Check): Promise<ExecutionResult> {
  const context = args.contextValue as Context
  const lane = new Lane('read', scopeOf(context.caller, context.requestId))
  try {
    const result = (await lane.run(() => execute(args as never))) as ExecutionResult
    return masked(explained(check(result, lane), lane), context.requestId, log)
  } finally {
    // Nothing of a read depends on its COMMIT, so the answer does not wait for it.
    lane
      .end('COMMIT')
      .catch((error: unknown) => log.warn({ err: error, requestId: context.requestId }, 'read did not end cleanly'))
  }
}

/** Prisma's wrapping loses what the database said, which the error map understands; the lane has it. */
function explained(result: ExecutionResult, { fault }: Lane): ExecutionResult {
  if (!result.errors || !fault) return result
  const errors = result.errors.map((error) => {
    const cause = databaseErrorOf(error.originalError, fault)
    if (cause === error.originalError) return error
    const { message, nodes, source, positions, path } = error
    return new GraphQLError(message, { nodes, source, positions, path, originalError: cause } as never)
  })
  return { ...result, errors }
}

export function masked(result: ExecutionResult, requestId: string, log: Logger): ExecutionResult {
  if (!result.errors) return result
  const errors: GraphQLError[] = result.errors.map((error) => maskError(error, requestId, log))
  return { ...result, errors }
}
