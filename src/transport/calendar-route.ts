import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { requestError } from '../graphql/request-errors.ts'
import { newId } from '../lib/type-id.ts'
import { addressKey, type RateLimiter, startAttempt } from '../platform/index.ts'
import { findFeed, readFeed, tokenIn, type WrittenFeed } from '../rooms/index.ts'
import { answerError } from './answer-error.ts'
import { clientFacts } from './client-facts.ts'
import { maskError } from './masking.ts'

export { CALENDAR_PATH } from '../rooms/index.ts'

const HEADERS = { 'content-type': 'text/calendar; charset=utf-8', 'cache-control': 'private, max-age=300' }

export type CalendarRoute = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>

/**
 * `GET /calendar/<token>.ics`: the scheduled standups of whoever has the address (ROOM-141). The path is the credential,
 * so nothing here puts it into a log or an answer.
 */
export function createCalendarRoute(config: Config, log: Logger, limiter: RateLimiter): CalendarRoute {
  return async (request, response, path) => {
    const requestId = newId()
    response.setHeader('x-request-id', requestId)
    try {
      const { address } = clientFacts(request, config.MOOTHALL_TRUST_PROXY)
      answerFeed(request, response, await feedAt(tokenIn(path), address))
    } catch (error) {
      answerError(response, maskError(error, requestId, log))
    }
  }

  /** A wrong address counts against whoever tries it, a right one against its feed. */
  async function feedAt(token: string, address: string): Promise<WrittenFeed> {
    const attempt = await startAttempt(limiter, { nobodyRequests: addressKey(address) })
    if (!attempt.allowed) throw requestError('RATE_LIMITED', { retryAfterSeconds: attempt.retryAfterSeconds })
    const holder = await findFeed(token)
    if (!holder) throw requestError('NOT_FOUND')
    await attempt.forgive()
    const fetched = await limiter.take('calendarFetches', [holder.orgId, holder.userId])
    if (!fetched.allowed) throw requestError('RATE_LIMITED', { retryAfterSeconds: fetched.retryAfterSeconds })
    const feed = await readFeed(holder)
    if (!feed) throw requestError('NOT_FOUND')
    return feed
  }
}

function answerFeed({ method, headers }: IncomingMessage, response: ServerResponse, { text, etag }: WrittenFeed): void {
  if (knows(headers['if-none-match'], etag)) {
    response.writeHead(304, { ...HEADERS, etag }).end()
    return
  }
  response.writeHead(200, { ...HEADERS, etag, 'content-length': Buffer.byteLength(text) })
  response.end(method === 'HEAD' ? undefined : text)
}

/** Whether the client has this very text already; compared weakly, as If-None-Match is. */
function knows(condition: string | undefined, etag: string): boolean {
  const tags = condition?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes('*') || tags.includes(etag)
}
