import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { newCsrfSecret, newSessionToken } from '../../src/identity/session/token.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { Browser, type Page } from '../support/browser.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { createWorld, type World } from '../support/world.ts'
import { configure, newAddress } from './identity-app.ts'

/** Where browsers reach the server, as far as the provider knows. */
export const HOME = 'http://localhost:4000'
const CALLBACK = `${HOME}/auth/oidc/callback`

export type OidcWorld = {
  readonly world: World
  readonly provider: IdentityProvider
  /** Other settings than signing in with the provider alone. */
  configure(env?: Record<string, string>): void
  /** Somebody's browser. */
  browser(): Browser
  /** The server's own address for a path. */
  at(path: string): string
  /** The address that the provider, asked to sign in as that account, sends the browser back to; by us. */
  authorize(browser: Browser, start: Page, account: string, tamper?: (url: URL) => void): Promise<string>
  /** All of it: start, provider, callback. */
  signIn(browser: Browser, account: string, path?: string): Promise<Page>
  /** A browser that is signed in as this person by cookie, with what it needs to post a form. */
  signedIn(person: Actor, method?: string): Promise<{ browser: Browser; csrf: string; sessionId: string }>
  link(from: { browser: Browser; csrf: string }, account: string): Promise<Page>
  /** Whom a browser's cookies stand for. */
  viewerOf(browser: Browser): Promise<Viewer>
  close(): Promise<void>
}
export type Viewer = { user: { id: string } | null; standing: string | null; session: { method: string } | null }

export async function startOidcWorld(): Promise<OidcWorld> {
  const provider = await startIdentityProvider(CALLBACK)
  const settings = {
    MOOTHALL_OIDC_ISSUER: provider.issuer,
    MOOTHALL_OIDC_CLIENT_ID: provider.client.id,
    MOOTHALL_OIDC_CLIENT_SECRET: provider.client.secret,
  }
  const app = await startApp({ ...settings, MOOTHALL_TRUST_PROXY: '1', MOOTHALL_LOG_LEVEL: 'trace' })
  const world = await createWorld(app)
  const at = (path: string) => `${app.url}${path}`
  const ours = (url: string) => url.replace(HOME, app.url)

  async function authorize(browser: Browser, start: Page, account: string, tamper?: (url: URL) => void) {
    expect(start.text).toBe('')
    expect(start.status).toBe(303)
    const url = new URL(start.location!)
    expect(url.origin).toBe(provider.issuer)
    tamper?.(url)
    return ours(await browser.signInAt(url.href, account, HOME))
  }

  return {
    world,
    provider,
    configure: (env = {}) => configure({ ...settings, ...env }),
    browser: () => new Browser(newAddress()),
    at,
    authorize,
    async signIn(browser, account, path = '/auth/oidc/start') {
      return browser.get(await authorize(browser, await browser.get(at(path)), account))
    },
    async signedIn(person, method = 'password') {
      const browser = new Browser(newAddress())
      const [{ token, hash }, csrf, sessionId] = [newSessionToken(), newCsrfSecret(), newId()]
      await world.sql(
        `INSERT INTO identity.sessions (id, org_id, user_id, token_hash, csrf_hash, method) VALUES ($1, $2, $3, $4, $5, $6)`,
        [sessionId, person.orgId, person.userId, hash, csrf.hash, method],
      )
      browser.setCookie(app.url, 'moothall', token)
      browser.setCookie(app.url, 'moothall_csrf', csrf.secret)
      return { browser, csrf: csrf.secret, sessionId }
    },
    async link({ browser, csrf }, account) {
      const start = await browser.post(at('/auth/oidc/start'), { csrf, return: '/settings' })
      return browser.get(await authorize(browser, start, account))
    },
    async viewerOf(browser) {
      const cookie = ['moothall', 'moothall_csrf'].map((name) => `${name}=${browser.cookie(app.url, name) ?? ''}`)
      const csrf = browser.cookie(app.url, 'moothall_csrf') ?? ''
      const { data } = await app
        .client()
        .send(
          '{ viewer { user { id } standing session { method } } }',
          {},
          { cookie: cookie.join('; '), 'x-moothall-csrf': csrf },
        )
      return data.viewer
    },
    async close() {
      await world.close()
      await provider.close()
    },
  }
}

export const newEmail = (): string => `${randomBytes(6).toString('hex')}@example.org`

/** The person whom an identity is linked to. */
export async function personOf({ world, provider }: OidcWorld, subject: string): Promise<string | undefined> {
  const rows = await world.sql<{ id: string }>('SELECT id FROM identity.users WHERE issuer = $1 AND subject = $2', [
    provider.issuer,
    subject,
  ])
  return rows[0] && encodeId('User', rows[0].id)
}

export const linkBySql = ({ world, provider }: OidcWorld, person: Pick<Actor, 'userId'>, subject: string) =>
  world.sql('UPDATE identity.users SET issuer = $2, subject = $3 WHERE id = $1', [
    person.userId,
    provider.issuer,
    subject,
  ])

/** The code on the plain page, which holds our sentence and nothing else. */
export function codeOf({ status, text, location }: Page): string {
  expect(location).toBeNull()
  const [, sentence, code] =
    /^<!doctype html><html lang="en">.*<p>([^<]+)<\/p><p><code>([A-Z_]+)<\/code><\/p><\/html>\n$/.exec(text) ?? []
  expect(sentence).toBeDefined()
  return `${status} ${code}`
}
