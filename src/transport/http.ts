import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createYoga } from 'graphql-yoga'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Caller } from '../graphql/caller.ts'
import { requestError } from '../graphql/request-errors.ts'
import { newId } from '../lib/type-id.ts'
import type { RateLimiter } from '../platform/index.ts'
import { schema } from '../schema.ts'
import { answerError } from './answer-error.ts'
import { CALENDAR_PATH, createCalendarRoute } from './calendar-route.ts'
import { DocumentCache, NO_ERRORS } from './document-cache.ts'
import { GRAPHIQL_ASSETS, Graphiql } from './graphiql/page.ts'
import { answerCors, securityHeaders } from './headers.ts'
import { answerHealth, answerReadiness, type Readiness } from './health.ts'
import { maskError } from './masking.ts'
import { answerMetrics } from './metrics.ts'
import { createOidcRoutes } from './oidc-routes.ts'
import { useCostExtension } from './plugins/use-cost-extension.ts'
import { useIdempotency } from './plugins/use-idempotency.ts'
import { useIntrospectionGuard } from './plugins/use-introspection-guard.ts'
import { useLimits } from './plugins/use-limits.ts'
import { useMetrics } from './plugins/use-metrics.ts'
import { useOperations } from './plugins/use-operations.ts'
import { type ServerContext, usePrincipal } from './plugins/use-principal.ts'
import { useQuietFaults } from './plugins/use-quiet-faults.ts'
import { useRateLimits } from './plugins/use-rate-limits.ts'
import { useRequestParameters } from './plugins/use-request-parameters.ts'
import { useResponseStatus } from './plugins/use-response-status.ts'
import { useServerSentEvents } from './plugins/use-server-sent-events.ts'
import { useSubscriptions } from './plugins/use-subscriptions.ts'
import { contextOf, type Principal } from './principal.ts'
import { answerWithin } from './request-timeout.ts'
import { SessionUse, type Touch } from './session-use.ts'
import { answerSignInPage } from './sign-in/page.ts'
import type { Streams } from './streams.ts'
import { Traffic } from './traffic.ts'

export const GRAPHQL_PATH = '/graphql'
const HEADERS_MAX = 16 * 1024
const REQUEST_TIMEOUT = 30_000
/** Longer than proxies keep their idle connections, so that it is they who close them. */
const KEEP_ALIVE = 65_000

const LIMITS = { maxHeaderSize: HEADERS_MAX, requestTimeout: REQUEST_TIMEOUT, keepAliveTimeout: KEEP_ALIVE }
/** Of all protocols on offer sockets alone are taken. Clients that offer another, as HTTP/2 by `h2c`, get their answer. */
const shouldUpgradeCallback = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket'

export type HttpOptions = {
  limiter: RateLimiter
  readiness: Readiness
  streams: Streams
  /** The caller as they stand now, for one event of a stream; null when the session holds no longer. */
  refresh(caller: Caller): Promise<Caller | null>
  touch: Touch
}

/** The GraphQL engine, used by every transport through the same plugins. */
function createEngine(config: Config, log: Logger, { limiter, streams, refresh, touch }: HttpOptions) {
  return createYoga<ServerContext & { principal?: Principal }>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    context: (initial) => {
      if (!initial.principal) throw requestError('UNAUTHENTICATED')
      return contextOf(initial.principal)
    },
    plugins: [
      useMetrics(),
      useRequestParameters(config.MOOTHALL_BODY_MAX),
      usePrincipal(config, log),
      useIntrospectionGuard(),
      useLimits(config),
      // Each of these executes around the one before it.
      useOperations(log, new SessionUse(touch, log)),
      useRateLimits(limiter),
      useCostExtension(),
      useIdempotency({ ttl: config.MOOTHALL_IDEMPOTENCY_TTL, log }),
      useSubscriptions({ streams, refresh, touch, log }),
      useServerSentEvents(),
      useQuietFaults(),
      useResponseStatus(),
    ],
    // What fails outside execution: parsing, validation, the caller's credential.
    maskedErrors: { maskError: (error) => maskError(error, newId(), log) },
    logging: false,
    parserAndValidationCache: { documentCache: new DocumentCache(), errorCache: NO_ERRORS },
    multipart: false,
    batching: false,
    maxRequestBodySize: false, // counted where it is read
    landingPage: false,
    graphiql: false,
    healthCheckEndpoint: '/.unused',
    cors: false,
  })
}

export type HttpServer = { server: Server; yoga: ReturnType<typeof createEngine>; traffic: Traffic }

/** Serves the few routes there are (DESIGN §5); sockets are added by their own transport. */
export function createHttpServer(config: Config, log: Logger, options: HttpOptions): HttpServer {
  const yoga = createEngine(config, log, options)
  const traffic = new Traffic()
  const graphiql = config.MOOTHALL_GRAPHIQL ? new Graphiql(GRAPHQL_PATH) : null
  const oidc = createOidcRoutes(config, log, options.limiter)
  const calendar = createCalendarRoute(config, log, options.limiter)
  const headers = securityHeaders(config)

  const server = createServer({ ...LIMITS, shouldUpgradeCallback }, (request, response) => {
    traffic.add(response)
    response.setHeaders(headers)
    answer(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'request failed')
      answerError(response, requestError('INTERNAL'))
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const path = pathOf(request)
    if (path === GRAPHQL_PATH) return answerGraphql(request, response)
    if (path.startsWith('/auth/oidc/') && (await answerOidc(request, response, path))) return
    if (request.method !== 'GET' && request.method !== 'HEAD') return answerError(response, requestError('NOT_FOUND'))
    if (path.startsWith(CALENDAR_PATH)) return answerCalendar(request, response, path)
    if (path === '/healthz') return answerHealth(response)
    if (path === '/metrics') return answerMetrics(request, response, config.MOOTHALL_METRICS_TOKEN)
    if (path === '/readyz') return answerReadiness(response, options.readiness, traffic.draining)
    if (path === '/' && graphiql) return response.writeHead(302, { location: GRAPHQL_PATH }).end()
    if (path.startsWith(GRAPHIQL_ASSETS) && (await graphiql?.answerAsset(path, response))) return
    if (config.MOOTHALL_FRONTEND_URL === '' && (await answerSignInPage(path, response))) return
    return answerError(response, requestError('NOT_FOUND'))
  }

  async function answerOidc(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    if (!traffic.closed) return oidc.answer(request, response, path)
    answerError(response, requestError('SHUTTING_DOWN', { retryAfterSeconds: 1 }))
    return true
  }

  async function answerCalendar(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (!traffic.closed) return calendar(request, response, path)
    answerError(response, requestError('SHUTTING_DOWN', { retryAfterSeconds: 1 }))
  }

  function answerGraphql(request: IncomingMessage, response: ServerResponse): unknown {
    if (answerCors(request, response, config.MOOTHALL_CORS_ORIGINS)) return
    if (traffic.closed) return answerError(response, requestError('SHUTTING_DOWN', { retryAfterSeconds: 1 }))
    if (graphiql?.wants(request)) return graphiql.answerPage(response)
    answerWithin(REQUEST_TIMEOUT, response)
    // Yoga makes a URL of it and shows the fault of one that is none; nothing here depends on the name we are called by.
    request.headers.host = 'localhost'
    return yoga(request, response)
  }

  return { server, yoga, traffic }
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}
