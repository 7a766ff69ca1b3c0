import * as oidc from 'openid-client'
import pg from 'pg'
import { cleanText, displayNameFault, firstCodePoints } from '../../lib/text.ts'
import { emailFault, emailOf, localPart } from '../user/email.ts'
import { OidcFault } from './fault.ts'
import { providerFault } from './provider.ts'

const MAX_LENGTH = 255

/** Who somebody is to the provider: this pair, and never the email (ID-28). */
export type Identity = { issuer: string; subject: string }
export type Profile = { email: string; displayName: string }

type Tokens = Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>

export function identityOf(tokens: Tokens): Identity {
  const claims = tokens.claims()
  if (!claims) throw new OidcFault('PROVIDER_FAILED', 'no id token')
  const { iss: issuer, sub: subject } = claims
  if ([issuer, subject].some((text) => text === '' || text.length > MAX_LENGTH || text.includes('\0'))) {
    throw new OidcFault('PROVIDER_FAILED', 'identity out of bounds')
  }
  return { issuer, subject }
}

/** What the provider vouches for of somebody new. Many keep it out of the token, so it is asked for. */
export async function profileOf(configuration: oidc.Configuration, tokens: Tokens): Promise<Profile> {
  const claims = await claimsOf(configuration, tokens)
  const email = typeof claims.email === 'string' ? emailOf(claims.email) : ''
  if (claims.email_verified !== true || emailFault(email) !== null) throw new OidcFault('EMAIL_UNVERIFIED')
  const names = [claims.name, localPart(email)].map((name) =>
    typeof name === 'string' ? firstCodePoints(cleanText(name), 64).trim() : '',
  )
  return { email, displayName: names.find((name) => displayNameFault(name) === null) ?? 'Member' }
}

type Claims = Readonly<Record<string, unknown>>

async function claimsOf(configuration: oidc.Configuration, tokens: Tokens): Promise<Claims> {
  const claims = tokens.claims()
  if (!claims) return {}
  if (claims.email !== undefined || !configuration.serverMetadata().userinfo_endpoint) return { ...claims }
  try {
    return { ...(await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)) }
  } catch (error) {
    throw providerFault(error)
  }
}

/** Somebody else was first: with the identity, or with the email. */
export const isTaken = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  error.code === '23505' &&
  (error.constraint === 'users_oidc_key' || error.constraint === 'users_email_key')
