import type { ExecutionResult } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../../graphql/context.ts'

/** Says in `extensions.cost` what the document cost, and what is left of the actor's minute (PLAT-67). */
export function useCostExtension(): Plugin<Context> {
  return {
    onExecute: ({ args, executeFn, setExecuteFn }) =>
      setExecuteFn(async (executed: unknown) => {
        const result = (await executeFn(executed as never)) as ExecutionResult
        const { cost } = args.contextValue as Context
        if (!cost?.budget) return result
        const { requested, maximum, budget } = cost
        const { remaining, resetAt } = budget
        return { ...result, extensions: { ...result.extensions, cost: { requested, maximum, remaining, resetAt } } }
      }),
  }
}
