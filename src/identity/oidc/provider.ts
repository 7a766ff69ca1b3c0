import * as oidc from 'openid-client'
import { identitySettings, type OidcSettings } from '../settings.ts'
import { OidcFault } from './fault.ts'

const TIMEOUT_SECONDS = 5
/** How long what the provider said of itself is believed. */
const KEPT = 60 * 60 * 1000

let known: { settings: OidcSettings; found: Promise<oidc.Configuration>; at: number } | undefined

/** Whether there is a provider to sign in with. */
export const isOidcOn = (): boolean => identitySettings().oidc !== null

/** The provider, asked about itself when somebody first needs it: one that is away keeps no server from starting. */
export async function provider(): Promise<oidc.Configuration> {
  const { oidc: settings } = identitySettings()
  if (!settings) throw new Error('no provider is configured')
  if (known?.settings !== settings || Date.now() - known.at > KEPT) {
    known = { settings, found: discover(settings), at: Date.now() }
  }
  const asked = known
  try {
    return await asked.found
  } catch (error) {
    if (known === asked) known = undefined // the next one asks again
    throw providerFault(error)
  }
}

function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<oidc.Configuration> {
  const authentication = clientSecret === '' ? oidc.None() : secretAuthentication(clientSecret)
  const execute = [oidc.enableNonRepudiationChecks]
  if (issuer.startsWith('http:')) execute.push(oidc.allowInsecureRequests) // on this machine: see the variable
  return oidc.discovery(new URL(issuer), clientId, undefined, authentication, { timeout: TIMEOUT_SECONDS, execute })
}

/** Basic, as the standard has it by default, unless the provider takes the secret in the body alone. */
function secretAuthentication(secret: string): oidc.ClientAuth {
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)]
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const chosen = methods.includes('client_secret_basic') ? basic : post
    chosen(server, ...rest)
  }
}

/** What went wrong with the provider, without its words: they may hold anything. */
export function providerFault(error: unknown): OidcFault {
  if (error instanceof OidcFault) return error
  if (error instanceof oidc.AuthorizationResponseError) {
    return new OidcFault(error.error === 'access_denied' ? 'DENIED' : 'PROVIDER_FAILED', word(error.error))
  }
  if (isUnreachable(error)) return new OidcFault('PROVIDER_UNREACHABLE')
  if (error instanceof oidc.ResponseBodyError) return new OidcFault('PROVIDER_FAILED', word(error.error))
  return new OidcFault('PROVIDER_FAILED', error instanceof oidc.ClientError ? error.code : undefined)
}

function isUnreachable(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof TypeError && each.message === 'fetch failed') return true
    if ((each as { code?: unknown }).code === 'OAUTH_TIMEOUT') return true
  }
  return false
}

/** One of the standard's error codes; anything else it is not repeated. */
const word = (text: string): string | undefined => (/^[a-z_]{1,40}$/.test(text) ? text : undefined)
