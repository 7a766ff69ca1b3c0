import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

export type Claims = { email?: string; email_verified?: boolean; name?: string }

/** A real OpenID Connect provider on this machine that signs in whomever a test names, without asking. */
export type IdentityProvider = {
  readonly issuer: string
  readonly client: { id: string; secret: string }
  /** Somebody new there, with these claims. Gives their subject. */
  account(claims?: Claims): string
  /** How often a code was exchanged, or tried to be. */
  readonly exchanges: number
  close(): Promise<void>
}

/** The account to sign in as; `denied` signs in nobody. */
export const ACCOUNT_HEADER = 'x-account'

export async function startIdentityProvider(redirectUri: string, port = 0): Promise<IdentityProvider> {
  const accounts = new Map<string, Claims>()
  const client = { id: 'moothall', secret: `client-secret-${randomBytes(12).toString('hex')}` }
  let exchanges = 0
  let provider: Provider
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/interaction/')) return void signIn(request, response)
    if (request.url?.startsWith('/token')) exchanges += 1
    void provider.callback()(request, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  provider = new Provider(issuer, configuration(client, redirectUri, accounts))

  async function signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const accountId = String(request.headers[ACCOUNT_HEADER])
    const denied = { error: 'access_denied', error_description: 'words-of-the-provider' }
    const result = accountId === 'denied' ? denied : { login: { accountId } }
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  }

  return {
    issuer,
    client,
    account(claims = {}) {
      const subject = randomBytes(9).toString('hex')
      accounts.set(subject, claims)
      return subject
    },
    get exchanges() {
      return exchanges
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type GrantContext = {
  oidc: {
    provider: { Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> } }
    client: { clientId: string }
    session: { accountId: string }
  }
}

function configuration(client: IdentityProvider['client'], redirectUri: string, accounts: Map<string, Claims>): object {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'test' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) }),
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
    ttl: { AuthorizationCode: 60, AccessToken: 60, IdToken: 60, Interaction: 60, Session: 60, Grant: 60 },
  }
}
