import { type GraphQLError, NoSchemaIntrospectionCustomRule } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Principal } from '../principal.ts'

const SUGGESTION = /\s*Did you mean [^?]*\?/g

/**
 * Nobody learns the schema without signing in: no introspection, and no names in "did you mean" (PLAT-66). Sockets are for
 * those who are signed in, so what goes out by HTTP is all there is.
 */
export function useIntrospectionGuard(): Plugin<{ principal?: Principal }, { principal?: Principal }> {
  return {
    onValidate({ context, addValidationRule }) {
      if (!context.principal?.caller) addValidationRule(NoSchemaIntrospectionCustomRule)
    },
    onResultProcess({ result, serverContext, setResult }) {
      if (serverContext.principal?.caller || !('errors' in result) || !result.errors) return
      setResult({ ...result, errors: result.errors.map(withoutSuggestion) } as never)
    },
  }
}

/** A copy: results of validation are kept for whoever sends the same document. */
function withoutSuggestion(error: GraphQLError): GraphQLError {
  const message = error.message.replace(SUGGESTION, '')
  return message === error.message ? error : Object.create(error, { message: { value: message, enumerable: true } })
}
