import { become } from '../../graphql/become.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { invalidInput } from '../../graphql/errors.ts'
import { setSessionCookies } from './cookies.ts'
import { newCsrfSecret, newSessionToken } from './token.ts'

export const DELIVERIES = ['COOKIE', 'BEARER'] as const
/** How the token reaches the caller: as a cookie that no script reads, or once in the payload. */
export type Delivery = (typeof DELIVERIES)[number]

/** Everything of a new session that is shown once, and the hashes that are kept of it. */
export type Credentials = {
  delivery: Delivery
  token: string
  tokenHash: Buffer
  csrf: string | null
  csrfHash: Buffer | null
}

export type SignedIn = { sessionId: string; token: string | null; csrfToken: string | null }

/** A socket has no answer that could carry a cookie; refused before anything is made. */
export function newCredentials(delivery: Delivery, { cookies }: Pick<Context, 'cookies'>): Credentials {
  if (delivery === 'COOKIE' && !cookies) throw invalidInput('delivery', 'must be BEARER over a WebSocket')
  const { token, hash: tokenHash } = newSessionToken()
  if (delivery === 'BEARER') return { delivery, token, tokenHash, csrf: null, csrfHash: null }
  const { secret: csrf, hash: csrfHash } = newCsrfSecret()
  return { delivery, token, tokenHash, csrf, csrfHash }
}

/** After the commit: hands the token over, and the document goes on as the person who has signed in. */
export function deliver(context: Context, caller: SessionCaller, { token, csrf }: Credentials): SignedIn {
  become(context, { ...caller, byCookie: csrf !== null })
  if (csrf === null) return { sessionId: caller.sessionId, token, csrfToken: null }
  if (context.cookies) setSessionCookies(context.cookies, { token, csrf })
  return { sessionId: caller.sessionId, token: null, csrfToken: csrf }
}
