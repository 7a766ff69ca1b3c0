import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Config, isHttps } from '../config.ts'

const YEAR = 365 * 24 * 60 * 60
const PREFLIGHT_KEPT = '600'

/** Set on every answer: nothing of ours is framed, guessed at, cached on the way or told to other sites. */
export function securityHeaders(config: Config): Map<string, string> {
  return new Map([
    ['x-content-type-options', 'nosniff'],
    ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
    ['referrer-policy', 'no-referrer'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['cache-control', 'no-store'],
    ...(isHttps(config) ? ([['strict-transport-security', `max-age=${YEAR}`]] as const) : []),
  ])
}

const METHODS = 'GET, POST'
const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, x-moothall-csrf, x-request-id'
const RESPONSE_HEADERS =
  'idempotency-replayed, retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-request-id'

/**
 * Lets scripts of the listed origins, and of no others, call with credentials and read the answer. Others are not refused
 * here: their browser keeps the answer from them, and a cookie alone opens nothing (ID-14). Returns whether the request
 * was a preflight, which is answered.
 */
export function answerCors(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): boolean {
  response.setHeader('vary', 'Origin')
  const { origin } = request.headers
  const allowed = origin !== undefined && origins.includes(origin)
  if (allowed) {
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-allow-credentials', 'true')
    response.setHeader('access-control-expose-headers', RESPONSE_HEADERS)
  }
  if (request.method !== 'OPTIONS') return false
  if (allowed) {
    response.setHeader('access-control-allow-methods', METHODS)
    response.setHeader('access-control-allow-headers', REQUEST_HEADERS)
    response.setHeader('access-control-max-age', PREFLIGHT_KEPT)
  }
  response.writeHead(204, { allow: METHODS }).end()
  return true
}
