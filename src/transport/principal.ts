import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../graphql/caller.ts'
import type { ClientFacts, Context, CookieJar } from '../graphql/context.ts'
import { requestError } from '../graphql/request-errors.ts'
import { type Authenticated, authenticate, csrfMatches } from '../identity/index.ts'

export type Credential = { token: string; from: 'header' | 'cookie' }

export const CSRF_HEADER = 'x-moothall-csrf'

/** An Authorization header wins, and the cookie is then not read (ID-1). Null when nothing was presented. */
export function credentialOf(headers: IncomingHttpHeaders, cookieName: string): Credential | null {
  if (headers.authorization !== undefined) {
    const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(headers.authorization) ?? []
    if (!token) throw requestError('UNAUTHENTICATED')
    return { token, from: 'header' }
  }
  const token = cookieOf(headers.cookie, cookieName)
  return token ? { token, from: 'cookie' } : null
}

export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** Whom a credential stands for. One that does not hold is UNAUTHENTICATED, never silently nobody (ID-1). */
export async function authenticated({ token }: Credential, { address }: ClientFacts): Promise<Authenticated> {
  const held = await authenticate(token, address)
  if (!held) throw requestError('UNAUTHENTICATED')
  requireNotHalted(held.caller)
  return held
}

/**
 * Refuses what a halted agent asks, whatever it is (ID-43, 58, 59). The two calls that the gate takes from one all the
 * same (GATE-5) are to be let through here, once there are any: such a caller has no standing, so nothing else takes it.
 */
export function requireNotHalted(caller: Caller): void {
  if (caller.kind === 'agent' && caller.halt !== null) throw requestError(caller.halt)
}

/** A cookie is sent by the browser whoever wrote the page, so an HTTP request with one must prove it read the other (ID-14). */
export function requireCsrf(session: Authenticated, presented: string | undefined): void {
  if (!session.csrfHash || !csrfMatches(presented, session.csrfHash)) throw requestError('CSRF_REQUIRED')
}

/** What a transport knows once it has checked who calls; `context` of each operation is made from it. */
export type Principal = {
  requestId: string
  caller: Caller | null
  client: ClientFacts
  cookies: CookieJar | null
}

export function contextOf({ requestId, caller, client, cookies }: Principal): Context {
  return { requestId, caller, client, cookies, loads: new Map() }
}
