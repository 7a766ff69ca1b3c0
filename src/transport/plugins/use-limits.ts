import { type ExecutionArgs, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Config } from '../../config.ts'
import type { Context } from '../../graphql/context.ts'
import { type DocumentLimits, documentCost, exceeded, nestsDeeper, shapeOf } from '../../graphql/document-limits.ts'
import { requestError } from '../../graphql/request-errors.ts'

const COST_OF_NOBODY = 200
const COST_OF_GUEST = 2_000
/** GraphQL reads variables by recursion; no input type of ours is half as deep. */
const VARIABLES_DEPTH = 64

/** Refuses documents that ask for too much before anything of them runs (PLAT-66, 67), on every transport. */
export function useLimits(config: Config): Plugin<Context> {
  const limits: DocumentLimits = {
    depth: config.MOOTHALL_QUERY_MAX_DEPTH,
    aliases: config.MOOTHALL_QUERY_MAX_ALIASES,
    directives: 20,
    rootFields: 20,
    rootMutations: 10,
  }
  const check = (args: ExecutionArgs) => checkDocument(args, limits, config.MOOTHALL_QUERY_MAX_COST)
  return {
    onParse({ params, setParseFn, parseFn }) {
      setParseFn((source, options) =>
        parseFn(source, { ...options, ...params.options, maxTokens: config.MOOTHALL_QUERY_MAX_TOKENS }),
      )
    },
    onExecute: ({ args }) => check(args),
    onSubscribe: ({ args }) => check(args),
  }
}

function checkDocument(args: ExecutionArgs, limits: DocumentLimits, maxCost: number): void {
  const operation = getOperationAST(args.document, args.operationName)
  if (!operation) return // GraphQL's own error names it better
  const context = args.contextValue as Context

  const fault = exceeded(shapeOf(args.document, operation), limits, operation.operation === 'mutation')
  if (fault) throw requestError('QUERY_TOO_COMPLEX', { message: `The document ${fault}.` })

  if (nestsDeeper(args.variableValues, VARIABLES_DEPTH)) {
    throw requestError('QUERY_TOO_COMPLEX', { message: `The variables nest deeper than ${VARIABLES_DEPTH}.` })
  }

  const maximum = maximumOf(context, maxCost)
  const requested = documentCost(args.schema, args.document, operation, { ...args.variableValues })
  context.cost = { requested, maximum }
  if (requested > maximum || maximum === 0) {
    throw requestError('QUERY_TOO_COMPLEX', {
      message: `The document costs ${requested}; at most ${maximum} is allowed.`,
    })
  }
}

function maximumOf({ caller }: Context, maximum: number): number {
  if (!caller) return Math.min(COST_OF_NOBODY, maximum)
  return caller.standing === 'GUEST' ? Math.min(COST_OF_GUEST, maximum) : maximum
}
