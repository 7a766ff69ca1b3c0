import { type ExecutionResult, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { type CountedKind, OperationCount } from '../operation-count.ts'

export const COUNT: unique symbol = Symbol('operation count')

/** Where an operation's count is found; sockets put theirs there themselves. */
type Counted = { [COUNT]?: OperationCount }

/** Counts GraphQL operations and times them, by kind and by the code they end with. */
export function useMetrics(): Plugin<Counted, Counted> {
  const name = ({ args }: { args: { contextValue: object; document: never; operationName?: unknown } }) => {
    const count = (args.contextValue as Counted)[COUNT]
    const kind = getOperationAST(args.document, args.operationName as string | undefined)?.operation
    if (count && kind) count.kind = kind as CountedKind
  }
  return {
    onParams({ context }) {
      ;(context as Counted)[COUNT] = new OperationCount()
    },
    onExecute: (payload) => name(payload as never),
    onSubscribe: (payload) => name(payload as never),
    onResultProcess({ result, serverContext }) {
      const errors = Symbol.asyncIterator in result ? undefined : (result as ExecutionResult).errors
      ;(serverContext as Counted | undefined)?.[COUNT]?.end(errors)
    },
  }
}
