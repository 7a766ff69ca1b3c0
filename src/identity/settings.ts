import { type Config, isHttps } from '../config.ts'
import type { RateLimiter } from '../platform/index.ts'
import { setPasswordConcurrency } from './session/password.ts'

/** How long a sign-in lasts (ID-15), in milliseconds. */
export type SessionLife = { idle: number; max: number }

/** A secret of the instance; derive from it, never use it bare. */
export type KeyPepper = { readonly id: number; readonly secret: Uint8Array }

export type OidcSettings = {
  issuer: string
  clientId: string
  clientSecret: string
  /** What somebody becomes whom the provider vouches for and nobody knows; null: nothing. */
  autoJoin: { orgSlug: string; role: 'member' | 'viewer' } | null
}

export type IdentitySettings = {
  sessionLife: SessionLife
  /** Cookies are Secure and bound to the host where the public address is https (ID-13). */
  secureCookies: boolean
  passwordSignIn: boolean
  orgCreate: 'operator' | 'registered'
  publicUrl: string
  /** The provider to sign in with; null without one. */
  oidc: OidcSettings | null
  embedProviders: readonly string[]
  limiter: RateLimiter
  /** Newest first; what is derived of one is verified with each. */
  keyPeppers: readonly KeyPepper[]
}

let current: IdentitySettings | undefined

/** Called once at start: use-cases take a caller and an input, so what the operator decided reaches them from here. */
export function configureIdentity(config: Config, limiter: RateLimiter, keyPeppers: readonly KeyPepper[] = []): void {
  setPasswordConcurrency(config.MOOTHALL_ARGON2_CONCURRENCY)
  current = {
    sessionLife: { idle: config.MOOTHALL_SESSION_IDLE_TTL, max: config.MOOTHALL_SESSION_MAX_TTL },
    secureCookies: isHttps(config),
    passwordSignIn: config.MOOTHALL_PASSWORD_SIGN_IN,
    orgCreate: config.MOOTHALL_ORG_CREATE,
    publicUrl: config.MOOTHALL_PUBLIC_URL,
    oidc: oidcSettings(config),
    embedProviders: config.MOOTHALL_EMBED_PROVIDERS,
    limiter,
    keyPeppers,
  }
}

export function identitySettings(): IdentitySettings {
  if (!current) throw new Error('identity is not configured')
  return current
}

function oidcSettings(config: Config): OidcSettings | null {
  if (config.MOOTHALL_OIDC_ISSUER === '') return null
  return {
    issuer: config.MOOTHALL_OIDC_ISSUER,
    clientId: config.MOOTHALL_OIDC_CLIENT_ID,
    clientSecret: config.MOOTHALL_OIDC_CLIENT_SECRET,
    autoJoin: config.MOOTHALL_OIDC_AUTO_JOIN,
  }
}
