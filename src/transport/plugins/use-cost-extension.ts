import type { Plugin } from 'graphql-yoga'
import type { Context } from '../../graphql/context.ts'

/** Says in `extensions.cost` what the document cost, and what is left of the actor's minute (PLAT-67). */
export function useCostExtension(): Plugin<Context> {
  return {
    onExecute: ({ args }) => ({
      onExecuteDone({ result, setResult }) {
        const { cost } = args.contextValue as Context
        if (!cost?.budget || Symbol.asyncIterator in result) return
        const { requested, maximum, budget } = cost
        const { remaining, resetAt } = budget
        setResult({ ...result, extensions: { ...result.extensions, cost: { requested, maximum, remaining, resetAt } } })
      },
    }),
  }
}
