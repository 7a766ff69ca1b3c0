import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'

/**
 * An answer that holds something is a 200, whatever went wrong beside it; the status of an error is that of an answer
 * with nothing else in it. Headers such as Retry-After stay.
 */
export function useResponseStatus(): Plugin {
  return {
    onResultProcess({ result, setResult }) {
      if (Array.isArray(result) || Symbol.asyncIterator in result) return
      const { data, errors } = result as ExecutionResult
      if (errors && holdsSomething(data)) setResult({ ...result, errors: errors.map(withoutStatus) } as never)
    },
  }
}

export function holdsSomething(data: ExecutionResult['data']): boolean {
  return data != null && Object.values(data).some((value) => value !== null)
}

/** The HTTP hints are not shown, so a copy may carry others. */
function withoutStatus(error: GraphQLError): GraphQLError {
  const { http, ...extensions } = error.extensions as { http?: { headers?: object } }
  const hints = { spec: true, ...(http?.headers && { headers: http.headers }) }
  return Object.assign(Object.create(Object.getPrototypeOf(error)), error, {
    extensions: { ...extensions, http: hints },
  })
}
