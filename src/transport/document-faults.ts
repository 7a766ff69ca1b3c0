import { GraphQLError } from 'graphql'
import { messageWithoutValues } from './without-values.ts'

const KNOWN = ['BAD_REQUEST', 'GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED']

/**
 * An error that GraphQL itself found in the document or its variables, with its code (PLAT-62). Undefined when it is ours:
 * a resolver's value that does not fit its type names no place in the document.
 */
export function documentFault(error: GraphQLError): GraphQLError | undefined {
  const code = codeOf(error)
  if (code === undefined) return undefined
  const { nodes, source, positions, path, extensions } = error
  const http = extensions['http'] ?? { status: 400, spec: true }
  return new GraphQLError(messageWithoutValues(error), {
    nodes,
    source,
    positions,
    path,
    extensions: { code, http },
  } as never)
}

function codeOf({ message, extensions, originalError, path }: GraphQLError): string | undefined {
  const { code } = extensions
  if (KNOWN.includes(code as string)) return code as string
  if (message.startsWith('Syntax Error')) return 'GRAPHQL_PARSE_FAILED'
  const isOfResult = path !== undefined && originalError instanceof GraphQLError && originalError.nodes === undefined
  return isOfResult ? undefined : 'BAD_REQUEST'
}
