import type { IncomingMessage, ServerResponse } from 'node:http'
import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { type Config, isHttps } from '../config.ts'
import type { Caller } from '../graphql/caller.ts'
import type { ClientFacts } from '../graphql/context.ts'
import { requestError } from '../graphql/request-errors.ts'
import {
  CALLBACK_PATH,
  countedAttempt,
  finishOidc,
  flowCookieName,
  isOidcOn,
  OIDC_FAULTS,
  OidcFault,
  sessionCookieName,
  startOidc,
} from '../identity/index.ts'
import { newId } from '../lib/type-id.ts'
import type { RateLimiter } from '../platform/index.ts'
import { answerAuthPage } from './auth-page.ts'
import { clientFacts } from './client-facts.ts'
import { cookieJar } from './cookie-jar.ts'
import { maskError } from './masking.ts'
import { admitRequest } from './plugins/use-rate-limits.ts'
import { authenticated, CSRF_HEADER, cookieOf, requireCsrf } from './principal.ts'

const START = '/auth/oidc/start'
const FORM_MAX = 4_096

export type OidcRoutes = {
  /** Answers what belongs here; false: it is no route of these. */
  answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean>
}

/**
 * Signing in with an OpenID Connect provider (ID-28). `GET /auth/oidc/start?return=/path` signs in. A form posted there by
 * somebody who is signed in, with the CSRF secret in the field `csrf`, links: no other site can begin that.
 */
export function createOidcRoutes(config: Config, log: Logger, limiter: RateLimiter): OidcRoutes {
  const secure = isHttps(config)
  const sessionCookie = sessionCookieName(secure)

  return {
    async answer(request, response, path) {
      const route = routeOf(request.method, path)
      if (!route || !isOidcOn()) return false
      const requestId = newId()
      response.setHeader('x-request-id', requestId)
      try {
        const client = clientFacts(request, config.MOOTHALL_TRUST_PROXY)
        await admitRequest(limiter, { caller: null, client })
        response.writeHead(303, { location: await route({ request, response, client, requestId }) }).end()
      } catch (error) {
        answerFault(response, error, requestId)
      }
      return true
    },
  }

  function routeOf(method: string | undefined, path: string) {
    if (path === START && method === 'GET') return signIn
    if (path === START && method === 'POST') return link
    if (path === CALLBACK_PATH && method === 'GET') return finish
    return undefined
  }

  async function signIn({ request, response }: Asked): Promise<string> {
    const returnTo = queryOf(request).get('return')
    return (await startOidc({ returnTo, linkFor: null }, cookieJar(response, secure))).href
  }

  async function link({ request, response, client }: Asked): Promise<string> {
    const form = await formOf(request)
    const token = cookieOf(request.headers.cookie, sessionCookie)
    if (!token) throw requestError('UNAUTHENTICATED')
    const session = await authenticated({ token, from: 'cookie' }, client)
    requireCsrf(session, form.get('csrf') ?? String(request.headers[CSRF_HEADER] ?? ''))
    const returnTo = form.get('return')
    return (await startOidc({ returnTo, linkFor: session.caller }, cookieJar(response, secure))).href
  }

  /** A flow that fails counts as a failed sign-in of its address (PLAT-69, 70). */
  async function finish({ request, response, client, requestId }: Asked): Promise<string> {
    const finishing = () =>
      finishOidc({
        query: queryOf(request).toString(),
        sealedFlow: cookieOf(request.headers.cookie, flowCookieName()),
        signedIn: () => callerOf(request, client),
        client,
        cookies: cookieJar(response, secure),
        requestId,
      })
    const isFailure = (error: unknown) => error instanceof OidcFault && error.code !== 'PROVIDER_UNREACHABLE'
    return countedAttempt(null, client.address, finishing, isFailure)
  }

  async function callerOf(request: IncomingMessage, client: ClientFacts): Promise<Caller | null> {
    const token = cookieOf(request.headers.cookie, sessionCookie)
    if (!token) return null
    return authenticated({ token, from: 'cookie' }, client).then(
      ({ caller }) => caller,
      (error: unknown) => {
        if (error instanceof GraphQLError && error.extensions.code === 'UNAUTHENTICATED') return null
        throw error
      },
    )
  }

  function answerFault(response: ServerResponse, error: unknown, requestId: string): void {
    if (response.headersSent) {
      response.destroy()
      return
    }
    if (error instanceof OidcFault) {
      const { code, reason } = error
      log.warn({ requestId, code, ...(reason && { reason }) }, 'a sign-in through the provider failed')
      const [status, sentence] = OIDC_FAULTS[code]
      answerAuthPage(response, { status, code, sentence })
      return
    }
    const { message, extensions } = maskError(error, requestId, log)
    const { code, http } = extensions as { code: string; http: { status: number; headers?: Record<string, string> } }
    answerAuthPage(response, {
      status: http.status,
      code,
      sentence: message,
      ...(http.headers && { headers: http.headers }),
    })
  }
}

type Asked = {
  request: IncomingMessage
  response: ServerResponse
  client: ClientFacts
  requestId: string
}

function queryOf({ url = '/' }: IncomingMessage): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > FORM_MAX) throw requestError('PAYLOAD_TOO_LARGE')
    chunks.push(chunk as Buffer)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
