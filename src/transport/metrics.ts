import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import { collectDefaultMetrics } from 'prom-client'
import { poolUse } from '../db/pool.ts'
import { requestError } from '../graphql/request-errors.ts'
import { observe, registry } from '../lib/metrics.ts'
import { sha256 } from '../lib/sha256.ts'
import { auditFeedLag } from '../platform/index.ts'
import { answerError } from './answer-error.ts'
import type { Streams } from './streams.ts'

/** What stands in a request that came through a proxy, which may sit on this very machine. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** Figures that are read when they are asked for; what is counted as it happens counts itself (`lib/metrics.ts`). */
export function observeServer({ streams }: { streams: Pick<Streams, 'figures'> }): void {
  observe('database_pool_connections', 'Connections to the database.', connections, 'state')
  observe('database_pool_waiting', 'Operations that wait for a connection.', () => poolUse().waiting)
  observe('streams', 'Open streams and the sockets that may carry them.', () => streams.figures, 'kind')
  observe('audit_feed_lag_seconds', 'Age of the oldest event that feeds cannot show yet.', auditFeedLag)
  if (!registry.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics({ register: registry })
}

function connections(): Record<string, number> {
  const { total, idle } = poolUse()
  return { in_use: total - idle, idle }
}

/** `/metrics`: for whoever has the token, or where there is none for this machine (PLAT-73). */
export async function answerMetrics(request: IncomingMessage, response: ServerResponse, token: string): Promise<void> {
  if (!mayRead(request, token))
    return answerError(response, requestError(token === '' ? 'FORBIDDEN' : 'UNAUTHENTICATED'))
  const text = await registry.metrics()
  response.writeHead(200, { 'content-type': registry.contentType }).end(text)
}

function mayRead({ headers, socket }: IncomingMessage, token: string): boolean {
  if (token === '') return isLoopback(socket.remoteAddress ?? '') && !FORWARDED.some((name) => name in headers)
  const [, presented] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
  return presented !== undefined && timingSafeEqual(sha256(presented), sha256(token))
}

function isLoopback(address: string): boolean {
  const plain = isIPv6(address) ? address.replace(/^::ffff:/i, '') : address
  return plain === '::1' || plain.startsWith('127.')
}
