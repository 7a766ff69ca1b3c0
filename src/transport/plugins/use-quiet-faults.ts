import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { documentFault } from '../document-faults.ts'

const FOUND_BEFORE = ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED']

/** What is wrong with a document is told without the values in it; these errors are kept and pass no masking (PLAT-23). */
export function useQuietFaults(): Plugin {
  return {
    onResultProcess({ result, setResult }) {
      if (Array.isArray(result) || Symbol.asyncIterator in result) return
      const { errors } = result as ExecutionResult
      if (errors?.some(isFoundBefore)) setResult({ ...result, errors: errors.map(quiet) } as never)
    },
  }
}

const isFoundBefore = ({ extensions }: GraphQLError) => FOUND_BEFORE.includes(extensions?.['code'] as string)
const quiet = (error: GraphQLError) => (isFoundBefore(error) ? (documentFault(error) ?? error) : error)
