import { createServer, type Server } from 'node:http'
import { createYoga } from 'graphql-yoga'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { requestError } from '../graphql/request-errors.ts'
import { schema } from '../schema.ts'
import { maskError } from './masking.ts'
import { useIntrospectionGuard } from './plugins/use-introspection-guard.ts'
import { useLimits } from './plugins/use-limits.ts'
import { useOperations } from './plugins/use-operations.ts'
import { type ServerContext, usePrincipal } from './plugins/use-principal.ts'
import { contextOf, type Principal } from './principal.ts'

export const GRAPHQL_PATH = '/graphql'
const HEADERS_MAX = 16 * 1024
const REQUEST_TIMEOUT = 30_000

/** The GraphQL engine, used by every transport through the same plugins. */
export function createEngine(config: Config, log: Logger) {
  return createYoga<ServerContext & { principal?: Principal }>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    context: (initial) => {
      if (!initial.principal) throw requestError('UNAUTHENTICATED')
      return contextOf(initial.principal)
    },
    plugins: [usePrincipal(config, log), useIntrospectionGuard(), useLimits(config), useOperations(log)],
    // What fails outside execution: parsing, validation, the caller's credential.
    maskedErrors: { maskError: (error) => maskError(error, '', log) },
    logging: false,
    multipart: false,
    batching: false,
    landingPage: false,
    graphiql: false,
    healthCheckEndpoint: '/.unused',
    cors: false,
  })
}

export function createHttpServer(config: Config, log: Logger): { server: Server; yoga: ReturnType<typeof createEngine> } {
  const yoga = createEngine(config, log)
  const server = createServer({ maxHeaderSize: HEADERS_MAX, requestTimeout: REQUEST_TIMEOUT }, (request, response) => {
    void yoga(request, response)
  })
  return { server, yoga }
}
