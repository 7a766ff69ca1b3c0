import * as oidc from 'openid-client'
import type { Caller } from '../../graphql/caller.ts'
import type { ClientFacts, CookieJar } from '../../graphql/context.ts'
import { setSessionCookies } from '../session/cookies.ts'
import { newCredentials } from '../session/delivery.ts'
import { OidcFault } from './fault.ts'
import { type Flow, flowCookieName, openFlow } from './flow.ts'
import { type Identity, identityOf, type Profile, profileOf } from './identity.ts'
import { linkIdentity } from './link-identity.ts'
import { provider, providerFault } from './provider.ts'
import { signInWithIdentity } from './sign-in-with-identity.ts'
import { callbackUrl, requireMayLink } from './start-oidc.ts'

type Finish = {
  /** What the provider sent the browser back with: `?code=…&state=…`. */
  query: string
  sealedFlow: string | undefined
  /** Whose session cookie the browser has; asked when an identity is to be linked. */
  signedIn(): Promise<Caller | null>
  client: ClientFacts
  cookies: CookieJar
  requestId: string
}

/**
 * Ends what `startOidc` began: exchanges the code, outside any operation, and links or signs in (ID-28). A flow is used
 * once, whatever comes of it. Returns where the browser goes; throws an OidcFault.
 */
export async function finishOidc({ query, sealedFlow, signedIn, client, cookies, requestId }: Finish): Promise<string> {
  const flow = openFlow(sealedFlow)
  if (sealedFlow !== undefined) cookies.set(flowCookieName(), '', { httpOnly: true, maxAge: 0 })
  if (!flow) throw new OidcFault('FLOW_LOST')
  const { identity, profile } = await exchange(flow, query)

  if (flow.linkFor === null) {
    const credentials = newCredentials('COOKIE', { cookies })
    await signInWithIdentity(identity, profile, { credentials, client, requestId })
    if (credentials.csrf !== null) setSessionCookies(cookies, { token: credentials.token, csrf: credentials.csrf })
    return flow.returnTo
  }
  const caller = await signedIn()
  if (caller?.kind !== 'session' || caller.sessionId !== flow.linkFor) throw new OidcFault('SIGN_IN_AGAIN')
  await linkIdentity(requireMayLink(caller), identity, requestId)
  return flow.returnTo
}

async function exchange(
  { state, nonce, verifier }: Flow,
  query: string,
): Promise<{ identity: Identity; profile: () => Promise<Profile> }> {
  const url = callbackUrl()
  url.search = query
  const states = url.searchParams.getAll('state')
  if (states.length !== 1 || states[0] !== state) throw new OidcFault('FLOW_LOST', 'state')
  const configuration = await provider()
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
  const tokens = await oidc.authorizationCodeGrant(configuration, url, checks).catch((error: unknown) => {
    throw providerFault(error)
  })
  return { identity: identityOf(tokens), profile: () => profileOf(configuration, tokens) }
}
