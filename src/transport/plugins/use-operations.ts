import type { Plugin } from 'graphql-yoga'
import type { Logger } from 'pino'
import { executeOperation } from '../execute.ts'

/** Gives every query and mutation its database operation; resolvers find it without being told (DESIGN §2). */
export function useOperations(log: Logger): Plugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn((args) => executeOperation(args, log))
    },
  }
}
