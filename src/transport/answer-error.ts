import type { ServerResponse } from 'node:http'
import type { GraphQLError } from 'graphql'

/** Answers what never reached the engine in the form of everything else: an error with its code and status. */
export function answerError(response: ServerResponse, error: GraphQLError): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { http, ...extensions } = error.extensions as { http: { status: number; headers?: Record<string, string> } }
  response.writeHead(http.status, { 'content-type': 'application/json; charset=utf-8', ...http.headers })
  response.end(JSON.stringify({ errors: [{ message: error.message, extensions }] }))
}
