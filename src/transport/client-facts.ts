import type { IncomingMessage } from 'node:http'
import type { ClientFacts } from '../graphql/context.ts'

const USER_AGENT_MAX = 512

/** The client's address after `hops` proxies that are ours; what stands further left anybody can write (PLAT-69). */
export function clientFacts(request: IncomingMessage, hops: number): ClientFacts {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  const peer = request.socket.remoteAddress ?? ''
  const address = hops > 0 ? (forwarded.at(-hops) ?? forwarded[0] ?? peer) : peer
  return { address, userAgent: (request.headers['user-agent'] ?? '').slice(0, USER_AGENT_MAX) }
}
