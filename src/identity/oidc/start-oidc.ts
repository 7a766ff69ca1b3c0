import * as oidc from 'openid-client'
import type { Caller, SessionCaller } from '../../graphql/caller.ts'
import type { CookieJar } from '../../graphql/context.ts'
import { identitySettings } from '../settings.ts'
import { OidcFault } from './fault.ts'
import { FLOW_LIFE, flowCookieName, sealFlow } from './flow.ts'
import { provider, providerFault } from './provider.ts'
import { returnPath } from './return-path.ts'

export const CALLBACK_PATH = '/auth/oidc/callback'

/** Where the provider sends the browser back to; registered there to the letter. */
export const callbackUrl = (): URL => new URL(CALLBACK_PATH, identitySettings().publicUrl)

type Start = {
  returnTo: string | null
  /** Who links an identity to themself; null: somebody signs in. */
  linkFor: Caller | null
}

/** Begins a sign-in at the provider, or the linking of an identity (ID-28). Returns where the browser goes. */
export async function startOidc({ returnTo, linkFor }: Start, cookies: CookieJar): Promise<URL> {
  const session = linkFor && requireMayLink(linkFor)
  const configuration = await provider()
  const verifier = oidc.randomPKCECodeVerifier()
  const flow = {
    state: oidc.randomState(),
    nonce: oidc.randomNonce(),
    verifier,
    returnTo: returnPath(returnTo),
    linkFor: session?.sessionId ?? null,
    endsAt: Date.now() + FLOW_LIFE,
  }
  const parameters = {
    redirect_uri: callbackUrl().href,
    scope: 'openid email profile',
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  const url = authorizationUrl(configuration, parameters)
  cookies.set(flowCookieName(), sealFlow(flow), { httpOnly: true, maxAge: FLOW_LIFE })
  return url
}

function authorizationUrl(configuration: oidc.Configuration, parameters: Record<string, string>): URL {
  try {
    return oidc.buildAuthorizationUrl(configuration, parameters)
  } catch (error) {
    throw providerFault(error) // it has no such endpoint
  }
}

/** Linking is for registered people who have standing, outside meeting clients. */
export function requireMayLink(caller: Caller): SessionCaller {
  const may = caller.kind === 'session' && caller.account === 'registered' && caller.standing !== null
  if (!may || caller.embedded) throw new OidcFault('SIGN_IN_AGAIN')
  return caller
}
