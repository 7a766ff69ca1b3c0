import type { IncomingMessage } from 'node:http'
import { type Config, isHttps } from '../config.ts'
import { requestError } from '../graphql/request-errors.ts'
import { type Held, sessionCookieName } from '../identity/index.ts'
import { clientFacts } from './client-facts.ts'
import { authenticated, credentialOf } from './principal.ts'

/** Who opens a socket: `authorization` is what its connection_init carries. Throws UNAUTHENTICATED or FORBIDDEN. */
export type AuthenticateSocket = (request: IncomingMessage, authorization: unknown) => Promise<Held>

/**
 * A session or key by bearer token, or a session by cookie. Browsers send the cookie whoever's page opens the socket and no header proves
 * otherwise, so with a cookie the page's origin must be one of ours (ID-14).
 */
export function socketAuthentication(config: Config): AuthenticateSocket {
  const origins = new Set([new URL(config.MOOTHALL_PUBLIC_URL).origin, ...config.MOOTHALL_CORS_ORIGINS])
  const cookieName = sessionCookieName(isHttps(config))

  return async (request, authorization) => {
    const { headers } = request
    if (authorization !== undefined && typeof authorization !== 'string') throw requestError('UNAUTHENTICATED')
    const credential = credentialOf(authorization === undefined ? headers : { authorization }, cookieName)
    if (!credential) throw requestError('UNAUTHENTICATED')
    if (credential.from === 'cookie' && !origins.has(headers.origin ?? '')) throw requestError('FORBIDDEN')
    const { caller, endsAt } = await authenticated(credential, clientFacts(request, config.MOOTHALL_TRUST_PROXY))
    return { caller, endsAt }
  }
}
