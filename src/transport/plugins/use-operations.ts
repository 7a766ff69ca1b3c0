import { getOperationAST, OperationTypeNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Logger } from 'pino'
import type { Context } from '../../graphql/context.ts'
import { noteKeyUse } from '../../identity/index.ts'
import { executeOperation } from '../execute.ts'
import type { SessionUse } from '../session-use.ts'

/** Gives every query and mutation its database operation; resolvers find it without being told (DESIGN §2). */
export function useOperations(log: Logger, use?: SessionUse): Plugin<Context> {
  return {
    onExecute({ args, setExecuteFn }) {
      const { caller } = args.contextValue
      const running = getOperationAST(args.document, args.operationName)?.operation
      if (caller) noteKeyUse(caller)
      if (use && caller && running === OperationTypeNode.MUTATION) use.note(caller)
      setExecuteFn((args) => executeOperation(args, log))
    },
  }
}
