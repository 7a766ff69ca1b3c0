import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Plugin } from 'graphql-yoga'
import type { Logger } from 'pino'
import { type Config, isHttps } from '../../config.ts'
import type { Caller } from '../../graphql/caller.ts'
import type { ClientFacts, CookieJar } from '../../graphql/context.ts'
import { isRequestError } from '../../graphql/request-errors.ts'
import { clearSessionCookies, sessionCookieName } from '../../identity/index.ts'
import { newId } from '../../lib/type-id.ts'
import { isRfcUuid } from '../../lib/uuid.ts'
import { clientFacts } from '../client-facts.ts'
import { cookieJar } from '../cookie-jar.ts'
import { maskError } from '../masking.ts'
import { authenticated, CSRF_HEADER, credentialOf, type Principal, requireCsrf } from '../principal.ts'

/** What node:http hands to Yoga, and what this plugin puts beside it. */
export type ServerContext = { req: IncomingMessage; res: ServerResponse; requestId?: string; principal?: Principal }

/** Names the request (PLAT-65) and settles who calls before anything of the document is looked at (ID-1, 2, 14). */
export function usePrincipal(config: Config, log: Logger): Plugin<object, ServerContext> {
  const secure = isHttps(config)
  const cookieName = sessionCookieName(secure)

  return {
    onRequest({ serverContext }) {
      if (!serverContext) return
      serverContext.requestId = requestIdOf(serverContext.req, config.MOOTHALL_TRUST_PROXY > 0)
      serverContext.res.setHeader('x-request-id', serverContext.requestId)
    },
    async onParams({ context }) {
      const { req, res, requestId = newId() } = context
      const cookies = cookieJar(res, secure)
      const client = clientFacts(req, config.MOOTHALL_TRUST_PROXY)
      const caller = await callerOf(req, client, cookies).catch((error: unknown) => {
        throw maskError(error, requestId, log)
      })
      context.principal = { requestId, caller, client, cookies }
    },
  }

  async function callerOf(request: IncomingMessage, client: ClientFacts, cookies: CookieJar): Promise<Caller | null> {
    const credential = credentialOf(request.headers, cookieName)
    if (!credential) return null
    const session = await authenticated(credential, client).catch((error: unknown) => {
      // No script can drop the cookie of a session that has ended; kept, it would bar the browser from signing in again.
      if (credential.from === 'cookie' && isRequestError(error)) clearSessionCookies(cookies)
      throw error
    })
    if (credential.from === 'cookie') requireCsrf(session, headerOf(request, CSRF_HEADER))
    return session.caller
  }
}

/** An inbound id is taken only from a proxy that is ours, and only when it is a UUID. */
function requestIdOf(request: IncomingMessage, trusted: boolean): string {
  const inbound = trusted ? headerOf(request, 'x-request-id') : undefined
  return isRfcUuid(inbound) ? inbound : newId()
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}
