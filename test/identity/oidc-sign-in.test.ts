import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { returnPath } from '../../src/identity/oidc/return-path.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import type { Browser } from '../support/browser.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { factsAbout } from './identity-app.ts'
import { codeOf, HOME, linkBySql, newEmail, type OidcWorld, personOf, startOidcWorld } from './oidc-world.ts'

let oidc: OidcWorld

beforeAll(async () => {
  oidc = await startOidcWorld()
})
afterAll(() => oidc?.close())
beforeEach(() => oidc.configure())

const START = '/auth/oidc/start'
const autoJoin = (role = 'member') => oidc.configure({ MOOTHALL_OIDC_AUTO_JOIN: `${oidc.world.org.slug}:${role}` })

const sessionsOf = ({ userId }: Pick<Actor, 'userId'>) =>
  oidc.world.sql<{ id: string; org_id: string }>(
    `SELECT id, org_id FROM identity.sessions WHERE user_id = $1 AND method = 'oidc'`,
    [userId],
  )

/** A member whom an identity of the provider is linked to. */
async function linkedMember(): Promise<{ person: Actor; account: string }> {
  const [person, account] = [await oidc.world.member(), oidc.provider.account()]
  await linkBySql(oidc, person, account)
  return { person, account }
}

describe('a linked identity', () => {
  it('ID-28 signs its person in by cookie and goes back to where it began', async () => {
    const { person, account } = await linkedMember()
    const browser = oidc.browser()
    const page = await oidc.signIn(browser, account, `${START}?return=${encodeURIComponent('/rooms?x=1#top')}`)
    expect(page).toMatchObject({ status: 303, location: '/rooms?x=1#top', text: '' })
    expect(await oidc.viewerOf(browser)).toEqual({
      user: { id: person.id },
      standing: 'MEMBER',
      session: { method: 'OIDC' },
    })
    const [session] = await sessionsOf(person)
    expect(await factsAbout(oidc.world, session!.id)).toMatchObject([
      {
        type: 'session.created',
        actorUserId: person.userId,
        payload: { method: 'oidc' },
        requestId: expect.any(String),
      },
    ])
    expect(page.cookies).toEqual([
      expect.stringMatching(/^moothall_oidc=; .*Max-Age=0.*HttpOnly/),
      expect.stringMatching(/^moothall=mhs_[\w-]{43}; Path=\/; SameSite=Lax; Max-Age=\d+; HttpOnly$/),
      expect.stringMatching(/^moothall_csrf=[\w-]{43}; Path=\/; SameSite=Lax; Max-Age=\d+$/),
    ])
  })

  it('ID-17 leads to the org used last', async () => {
    const { person, account } = await linkedMember()
    const { orgId } = await oidc.world.otherOrg()
    await oidc.world.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at, last_used_at)
       VALUES ($1, $2, 'viewer', 'me-too', now(), now())`,
      [orgId, person.userId],
    )
    const browser = oidc.browser()
    await oidc.signIn(browser, account)
    expect(await sessionsOf(person)).toMatchObject([{ org_id: orgId }])
    expect((await oidc.viewerOf(browser)).standing).toBe('VIEWER')
  })

  it('ID-28 is the pair of issuer and subject, whatever email the provider names', async () => {
    const [person, another] = [await oidc.world.member(), await oidc.world.member()]
    const email = newEmail()
    await oidc.world.sql('UPDATE identity.users SET email = $2, email_verified_at = now() WHERE id = $1', [
      another.userId,
      email,
    ])
    const account = oidc.provider.account({ email, email_verified: true })
    await linkBySql(oidc, person, account)
    const browser = oidc.browser()
    await oidc.signIn(browser, account)
    expect((await oidc.viewerOf(browser)).user).toEqual({ id: person.id })

    // The same subject at another issuer is somebody else.
    await oidc.world.sql(`UPDATE identity.users SET issuer = 'https://elsewhere.example' WHERE id = $1`, [
      person.userId,
    ])
    expect(codeOf(await oidc.signIn(oidc.browser(), account))).toBe('409 LINK_FIRST')
  })

  it('ID-29 does not sign in who is disabled, and the org hears of it', async () => {
    const { person, account } = await linkedMember()
    await oidc.world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [person.userId])
    const browser = oidc.browser()
    expect(codeOf(await oidc.signIn(browser, account))).toBe('403 SIGN_IN_FAILED')
    expect((await oidc.viewerOf(browser)).user).toBeNull()
    expect(await sessionsOf(person)).toEqual([])
    expect(await factsAbout(oidc.world, person.userId)).toMatchObject([
      { type: 'auth.sign_in_failed', actorKind: 'system', payload: { method: 'oidc', reason: 'not_active' } },
    ])
  })

  it('ID-17, 29 does not sign in who is a member of nothing', async () => {
    const { person, account } = await linkedMember()
    await oidc.world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [person.userId])
    expect(codeOf(await oidc.signIn(oidc.browser(), account))).toBe('403 SIGN_IN_FAILED')
    expect(await sessionsOf(person)).toEqual([])
  })

  it('ID-19 ends the least recently seen of fifty sessions', async () => {
    const { person, account } = await linkedMember()
    await oidc.world.sql(
      `INSERT INTO identity.sessions (org_id, user_id, token_hash, method, last_seen_at)
       SELECT $1, $2, sha256(random()::text::bytea), 'password', now() - at * interval '1 min'
       FROM generate_series(1, 49) AS at`,
      [person.orgId, person.userId],
    )
    await Promise.all([1, 2].map(() => oidc.signIn(oidc.browser(), account)))
    const ended = await oidc.world.sql(
      `SELECT last_seen_at < now() - interval '47 min' AS oldest FROM identity.sessions
       WHERE user_id = $1 AND revoke_reason = 'limit'`,
      [person.userId],
    )
    expect(ended).toEqual([{ oldest: true }, { oldest: true }])
  })
})

describe('what does not hold', () => {
  /** Tries it, and signs nobody in. */
  async function refused(from: Browser, url: string): Promise<string> {
    const code = codeOf(await from.get(url))
    expect(from.cookie(url, 'moothall')).toBeUndefined()
    expect(from.cookie(url, 'moothall_oidc')).toBeUndefined()
    return code
  }
  const begun = async (tamper?: (url: URL) => void) => {
    const { person, account } = await linkedMember()
    const browser = oidc.browser()
    const url = await oidc.authorize(browser, await browser.get(oidc.at(START)), account, tamper)
    return { person, account, browser, url }
  }

  it('ID-28 refuses another state, none and two, and asks the provider nothing', async () => {
    const before = oidc.provider.exchanges
    for (const change of [
      (url: URL) => url.searchParams.set('state', 'x'.repeat(43)),
      (url: URL) => url.searchParams.delete('state'),
      (url: URL) => url.searchParams.append('state', url.searchParams.get('state')!),
    ]) {
      const { browser, url, person } = await begun()
      const changed = new URL(url)
      change(changed)
      expect(await refused(browser, changed.href)).toBe('400 FLOW_LOST')
      expect(await sessionsOf(person)).toEqual([])
    }
    expect(oidc.provider.exchanges).toBe(before)
  })

  it('ID-28 refuses a token for another nonce', async () => {
    const { browser, url, person } = await begun((asked) => asked.searchParams.set('nonce', 'another'))
    expect(await refused(browser, url)).toBe('502 PROVIDER_FAILED')
    expect(await sessionsOf(person)).toEqual([])
  })

  it('ID-28 refuses a code that was made for another PKCE verifier', async () => {
    const { browser, url, person } = await begun((asked) => asked.searchParams.set('code_challenge', 'A'.repeat(43)))
    expect(await refused(browser, url)).toBe('502 PROVIDER_FAILED')
    expect(await sessionsOf(person)).toEqual([])
  })

  it('ID-28 asks for a code with PKCE S256, state and nonce', async () => {
    const { location } = await oidc.browser().get(oidc.at(START))
    const asked = Object.fromEntries(new URL(location!).searchParams)
    expect(asked).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${HOME}/auth/oidc/callback`,
    })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]).toMatch(/^[\w-]{43}$/)
  })

  it('ID-28 takes a code once, also with the cookie put back', async () => {
    const { browser, url, person } = await begun()
    const cookie = browser.cookie(url, 'moothall_oidc')!
    expect((await browser.get(url)).status).toBe(303)
    const again = oidc.browser()
    again.setCookie(url, 'moothall_oidc', cookie)
    expect(await refused(again, url)).toBe('502 PROVIDER_FAILED')
    expect(await refused(oidc.browser(), url)).toBe('400 FLOW_LOST')
    expect(await sessionsOf(person)).toHaveLength(1)
  })

  it('ID-28 refuses what another browser began, a cookie that was changed, and no cookie', async () => {
    const { browser, url, person } = await begun()
    const victim = oidc.browser()
    await victim.get(oidc.at(START))
    expect(await refused(victim, url)).toBe('400 FLOW_LOST')
    const cookie = browser.cookie(url, 'moothall_oidc')!
    for (const changed of [`${cookie.slice(0, -2)}AA`, cookie.slice(1), 'x', '', `${cookie}.${cookie}`]) {
      const forger = oidc.browser()
      forger.setCookie(url, 'moothall_oidc', changed)
      expect(await refused(forger, url)).toBe('400 FLOW_LOST')
    }
    expect(await sessionsOf(person)).toEqual([])
  })

  it('ID-28 says that the provider refused, without its words', async () => {
    const browser = oidc.browser()
    const url = await oidc.authorize(browser, await browser.get(oidc.at(START)), 'denied')
    const words = new URL(url)
    expect(words.searchParams.get('error_description')).toBe('words-of-the-provider')
    const page = await browser.get(url)
    expect(codeOf(page)).toBe('403 DENIED')
    expect(page.text).not.toContain('words-of-the-provider')
    expect(oidc.world.app.log()).not.toContain('words-of-the-provider')
  })

  it('ID-28 repeats nothing of an address that somebody made up', async () => {
    const browser = oidc.browser()
    const start = await browser.get(oidc.at(START))
    const state = new URL(start.location!).searchParams.get('state')!
    const query = new URLSearchParams({ error: '<b>canary</b>', error_description: '<b>canary</b>', state })
    const page = await browser.get(oidc.at(`/auth/oidc/callback?${query}`))
    expect(codeOf(page)).toBe('502 PROVIDER_FAILED')
    expect(page.text).not.toContain('canary')
    expect(oidc.world.app.log()).not.toContain('canary')
  })

  it('PLAT-23 no code, state, verifier, secret or token is logged', async () => {
    const { browser, url } = await begun()
    const { searchParams } = new URL(url)
    const flow = browser.cookie(url, 'moothall_oidc')!
    await browser.get(url)
    const secrets = [searchParams.get('code')!, searchParams.get('state')!, flow, browser.cookie(url, 'moothall')!]
    for (const secret of [...secrets, oidc.provider.client.secret]) {
      expect(secret.length).toBeGreaterThan(20)
      expect(oidc.world.app.log()).not.toContain(secret)
    }
  })

  it('PLAT-69 counts failed flows of one address', async () => {
    const browser = oidc.browser()
    const fail = async () => codeOf(await browser.get(oidc.at('/auth/oidc/callback?code=x&state=y')))
    for (let time = 0; time < 50; time++) expect(await fail()).toBe('400 FLOW_LOST')
    expect(await fail()).toBe('429 RATE_LIMITED')
    const { account } = await linkedMember()
    expect((await oidc.signIn(oidc.browser(), account)).status).toBe(303)
  })

  it('PLAT-78 has no such routes without a provider', async () => {
    oidc.configure({ MOOTHALL_OIDC_ISSUER: '', MOOTHALL_OIDC_CLIENT_ID: '' })
    for (const path of [START, '/auth/oidc/callback', '/auth/oidc/else']) {
      expect((await oidc.browser().get(oidc.at(path))).status).toBe(404)
    }
  })

  it('ID-28 answers no other method and no path beside', async () => {
    expect((await oidc.browser().post(oidc.at('/auth/oidc/callback'), {})).status).toBe(404)
    expect((await oidc.browser().get(oidc.at('/auth/oidc/start/'))).status).toBe(404)
  })
})

describe('an identity that nobody knows', () => {
  const named = (claims: object = {}) => {
    const email = newEmail()
    return { email, account: oidc.provider.account({ email, email_verified: true, name: 'Ada Lovelace', ...claims }) }
  }
  const known = async (verified: boolean) => {
    const [person, email] = [await oidc.world.member(), newEmail()]
    await oidc.world.sql(
      'UPDATE identity.users SET email = $2, email_verified_at = CASE WHEN $3 THEN now() END WHERE id = $1',
      [person.userId, email, verified],
    )
    return email
  }

  it('ID-28 is told to link first, whether its email exists or not, where nobody joins', async () => {
    const pages = await Promise.all(
      [newEmail(), await known(true), await known(false)].map((email) =>
        oidc.signIn(oidc.browser(), oidc.provider.account({ email, email_verified: true })),
      ),
    )
    expect(pages.map(codeOf)).toEqual(Array(3).fill('409 LINK_FIRST'))
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1)
    expect(pages[0]!.text).toContain('Sign in first, then link.')
  })

  it.each(['member', 'viewer'])('ID-28 joins as %s where the operator says so', async (role) => {
    autoJoin(role)
    const { email, account } = named()
    const browser = oidc.browser()
    expect(await oidc.signIn(browser, account)).toMatchObject({ status: 303, location: '/' })
    const viewer = await oidc.viewerOf(browser)
    expect(viewer).toEqual({
      user: { id: await personOf(oidc, account) },
      standing: role.toUpperCase(),
      session: { method: 'OIDC' },
    })
    const [row] = await oidc.world.sql(
      `SELECT id, display_name, email, email_verified_at IS NOT NULL AS verified, status, account
       FROM identity.users WHERE email = $1`,
      [email],
    )
    expect(row).toMatchObject({
      display_name: 'Ada Lovelace',
      verified: true,
      status: 'active',
      account: 'registered',
    })
    const userId = String(row!.id)
    expect(await factsAbout(oidc.world, userId)).toMatchObject([
      { type: 'member.joined', actorUserId: userId, payload: { role } },
    ])
    // And the next time they are known.
    await oidc.signIn(oidc.browser(), account)
    expect(await sessionsOf({ userId })).toHaveLength(2)
  })

  it('ID-28 makes one person of many first sign-ins at once', async () => {
    autoJoin()
    const { email, account } = named()
    const browsers = Array.from({ length: 6 }, () => oidc.browser())
    const urls = await Promise.all(
      browsers.map(async (browser) => oidc.authorize(browser, await browser.get(oidc.at(START)), account)),
    )
    const pages = await Promise.all(browsers.map((browser, at) => browser.get(urls[at]!)))
    expect(pages.map(({ status }) => status)).toEqual(Array(6).fill(303))
    const rows = await oidc.world.sql<{ id: string }>('SELECT id FROM identity.users WHERE email = $1', [email])
    expect(rows).toHaveLength(1)
    const userId = rows[0]!.id
    expect(await sessionsOf({ userId })).toHaveLength(6)
    expect((await factsAbout(oidc.world, userId)).map(({ type }) => type)).toEqual(['member.joined'])
    expect(new Set(await Promise.all(browsers.map(async (b) => (await oidc.viewerOf(b)).user?.id))).size).toBe(1)
  })

  it('ID-28 makes one person when the first sign-in commits while a second one waits for it', async () => {
    autoJoin()
    const { email, account } = named()
    const userId = newId()
    const held = await oidc.world.hold(
      `INSERT INTO identity.users (id, type, account, display_name, email, issuer, subject, status)
       VALUES ($1, 'human', 'registered', 'First', $2, $3, $4, 'active')`,
      [userId, email, oidc.provider.issuer, account],
    )
    const second = oidc.signIn(oidc.browser(), account)
    await oidc.world.untilBlocked()
    await held.release()
    // The winner is a member of nothing here, so the loser, who finds them, is signed in nowhere.
    expect(codeOf(await second)).toBe('403 SIGN_IN_FAILED')
    expect(await oidc.world.sql('SELECT id FROM identity.users WHERE email = $1', [email])).toEqual([{ id: userId }])
  })

  it('ID-28 leaves an email that exists to its person, verified there or not', async () => {
    autoJoin()
    for (const verified of [true, false]) {
      const email = await known(verified)
      const account = oidc.provider.account({ email: email.toUpperCase(), email_verified: true })
      const browser = oidc.browser()
      expect(codeOf(await oidc.signIn(browser, account))).toBe('409 LINK_FIRST')
      expect(await personOf(oidc, account)).toBeUndefined()
      expect((await oidc.viewerOf(browser)).user).toBeNull()
    }
  })

  it('ID-28 takes no email that the provider does not vouch for, and says the same of one that exists', async () => {
    autoJoin()
    const emails = [newEmail(), await known(true)]
    const claims = [
      ...emails.map((email) => ({ email, email_verified: false })),
      ...emails.map((email) => ({ email })),
      ...emails.map((email) => ({ email, email_verified: 'true' as never })),
      { email_verified: true },
      { email: 'no address', email_verified: true },
    ]
    const pages = await Promise.all(claims.map((each) => oidc.signIn(oidc.browser(), oidc.provider.account(each))))
    expect(pages.map(codeOf)).toEqual(claims.map(() => '403 EMAIL_UNVERIFIED'))
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1)
    expect(await oidc.world.sql('SELECT id FROM identity.users WHERE email = $1', [emails[0]])).toEqual([])
  })

  it('ID-28 names somebody by their email where the provider has no name that will do', async () => {
    autoJoin()
    for (const name of [undefined, '', '  ', '\u202eAda', 'x\u0000y']) {
      const { email, account } = named({ name })
      await oidc.signIn(oidc.browser(), account)
      const [row] = await oidc.world.sql('SELECT display_name FROM identity.users WHERE email = $1', [email])
      expect(row).toEqual({ display_name: email.slice(0, email.indexOf('@')) })
    }
  })

  it('ID-28 joins no org that is gone or archived', async () => {
    const { orgId } = await oidc.world.otherOrg()
    const [org] = await oidc.world.sql(
      `UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1 RETURNING slug`,
      [orgId],
    )
    for (const slug of [org!.slug, 'never-was']) {
      oidc.configure({ MOOTHALL_OIDC_AUTO_JOIN: `${slug}:member` })
      const { email, account } = named()
      expect(codeOf(await oidc.signIn(oidc.browser(), account))).toBe('403 SIGN_IN_FAILED')
      expect(await oidc.world.sql('SELECT id FROM identity.users WHERE email = $1', [email])).toEqual([])
    }
  })
})

describe('a provider that is away', () => {
  it('ID-28 keeps nothing from starting, and is asked again once it is back', async () => {
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const { port } = gone.address() as { port: number }
    gone.close()
    await once(gone, 'close')
    const settings = (secret: string) => ({
      MOOTHALL_OIDC_ISSUER: `http://127.0.0.1:${port}`,
      MOOTHALL_OIDC_CLIENT_ID: 'moothall',
      MOOTHALL_OIDC_CLIENT_SECRET: secret,
    })
    oidc.configure(settings('x'))
    expect(codeOf(await oidc.browser().get(oidc.at(START)))).toBe('503 PROVIDER_UNREACHABLE')
    expect(await oidc.world.owner.run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'OWNER' } })

    const back = await startIdentityProvider(`${HOME}/auth/oidc/callback`, port)
    expect((await oidc.browser().get(oidc.at(START))).status).toBe(303)
    await back.close()
  })

  it('ID-28 is not waited for without end', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    oidc.configure({ MOOTHALL_OIDC_ISSUER: `http://127.0.0.1:${port}` })
    expect(codeOf(await oidc.browser().get(oidc.at(START)))).toBe('503 PROVIDER_UNREACHABLE')
    silent.close()
  })
})

it.each([
  ['/', '/'],
  ['/rooms/1?x=%20#y', '/rooms/1?x=%20#y'],
  ['', '/'],
  [null, '/'],
  ['rooms', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['https://evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['/a\r\nset-cookie: x=y', '/'],
  ['/ä', '/'],
  [`/${'x'.repeat(512)}`, '/'],
])('ID-28 returns from %j to %j', (asked, to) => {
  expect(returnPath(asked)).toBe(to)
  // Whatever path it is, a browser reads it as one of ours.
  expect(new URL(returnPath(asked), HOME).origin).toBe(HOME)
})
