import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../support/actor.ts'
import { factsAbout } from './identity-app.ts'
import { codeOf, linkBySql, newEmail, type OidcWorld, personOf, startOidcWorld } from './oidc-world.ts'

let oidc: OidcWorld

beforeAll(async () => {
  oidc = await startOidcWorld()
  oidc.configure()
})
afterAll(() => oidc?.close())

const START = '/auth/oidc/start'
const factsOf = async ({ userId }: Pick<Actor, 'userId'>) =>
  (await factsAbout(oidc.world, userId)).map(({ type }) => type)

describe('linking an identity', () => {
  it('ID-28 lets it sign in whoever is signed in and asked for it', async () => {
    const [person, account] = [await oidc.world.member(), oidc.provider.account()]
    const from = await oidc.signedIn(person)
    expect(await oidc.link(from, account)).toMatchObject({ status: 303, location: '/settings' })
    expect(await personOf(oidc, account)).toBe(person.id)
    expect(await factsAbout(oidc.world, person.userId)).toMatchObject([
      { type: 'user.oidc_linked', actorUserId: person.userId, payload: {} },
    ])

    const elsewhere = oidc.browser()
    await oidc.signIn(elsewhere, account)
    expect(await oidc.viewerOf(elsewhere)).toMatchObject({ user: { id: person.id }, session: { method: 'OIDC' } })
  })

  it('ID-28 does nothing a second time', async () => {
    const [person, account] = [await oidc.world.member(), oidc.provider.account()]
    const from = await oidc.signedIn(person)
    await oidc.link(from, account)
    expect((await oidc.link(from, account)).status).toBe(303)
    expect(await factsOf(person)).toEqual(['user.oidc_linked'])
  })

  it('ID-14, 28 cannot be begun by another site: the form must hold the CSRF secret', async () => {
    const from = await oidc.signedIn(await oidc.world.member())
    const other = await oidc.signedIn(await oidc.world.member())
    for (const csrf of ['', 'x', other.csrf, from.csrf.slice(0, -1)]) {
      expect(codeOf(await from.browser.post(oidc.at(START), { csrf }))).toBe('403 CSRF_REQUIRED')
    }
    expect(codeOf(await from.browser.post(oidc.at(START), {}))).toBe('403 CSRF_REQUIRED')
    expect(codeOf(await oidc.browser().post(oidc.at(START), { csrf: from.csrf }))).toBe('401 UNAUTHENTICATED')
    expect(from.browser.cookie(oidc.at(START), 'moothall_oidc')).toBeUndefined()
    // A script of ours may say it in the header.
    expect((await from.browser.post(oidc.at(START), {}, { 'x-moothall-csrf': from.csrf })).status).toBe(303)
    expect(codeOf(await from.browser.post(oidc.at(START), { csrf: from.csrf, x: 'x'.repeat(5_000) }))).toBe(
      '413 PAYLOAD_TOO_LARGE',
    )
  })

  it('ID-28 is never what following a link to the start does, signed in or not', async () => {
    const [person, account] = [await oidc.world.member(), oidc.provider.account()]
    const { browser } = await oidc.signedIn(person)
    expect(codeOf(await oidc.signIn(browser, account))).toBe('409 LINK_FIRST')
    expect(await personOf(oidc, account)).toBeUndefined()
    expect(await factsOf(person)).toEqual([])
  })

  it('ID-28 takes a session that began it, and no other, at its end', async () => {
    const [person, another, account] = [await oidc.world.member(), await oidc.world.member(), oidc.provider.account()]
    const begin = async () => {
      const from = await oidc.signedIn(person)
      const start = await from.browser.post(oidc.at(START), { csrf: from.csrf })
      return { from, url: await oidc.authorize(from.browser, start, account) }
    }
    const signedOut = await begin()
    signedOut.from.browser.setCookie(signedOut.url, 'moothall', '')
    expect(codeOf(await signedOut.from.browser.get(signedOut.url))).toBe('401 SIGN_IN_AGAIN')

    for (const somebody of [another, person]) {
      const { from, url } = await begin()
      const other = await oidc.signedIn(somebody)
      from.browser.setCookie(url, 'moothall', other.browser.cookie(url, 'moothall')!)
      expect(codeOf(await from.browser.get(url))).toBe('401 SIGN_IN_AGAIN')
    }

    const ended = await begin()
    await oidc.world.sql(`UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user' WHERE id = $1`, [
      ended.from.sessionId,
    ])
    expect(codeOf(await ended.from.browser.get(ended.url))).toBe('401 SIGN_IN_AGAIN')
    expect(await personOf(oidc, account)).toBeUndefined()
    expect([await factsOf(person), await factsOf(another)]).toEqual([[], []])
  })

  it('ID-12, 28 is for registered people who have standing', async () => {
    const [anonymous, former] = [await oidc.world.anonymous(), await oidc.world.member()]
    const sessions = [await oidc.signedIn(anonymous, 'anonymous'), await oidc.signedIn(former)]
    await oidc.world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [former.userId])
    for (const { browser, csrf } of sessions) {
      expect(codeOf(await browser.post(oidc.at(START), { csrf }))).toBe('401 SIGN_IN_AGAIN')
    }
  })

  it('ID-28 takes no identity from somebody else', async () => {
    const [owner, thief, account] = [await oidc.world.member(), await oidc.world.member(), oidc.provider.account()]
    await linkBySql(oidc, owner, account)
    expect(codeOf(await oidc.link(await oidc.signedIn(thief), account))).toBe('409 IDENTITY_TAKEN')
    expect(await personOf(oidc, account)).toBe(owner.id)
    expect(await factsOf(thief)).toEqual([])
  })

  it('ID-28 gives one identity to one of two who link it at once', async () => {
    const [people, account] = [[await oidc.world.member(), await oidc.world.member()], oidc.provider.account()]
    const ready = await Promise.all(
      people.map(async (person) => {
        const { browser, csrf } = await oidc.signedIn(person)
        const start = await browser.post(oidc.at(START), { csrf })
        return { browser, url: await oidc.authorize(browser, start, account) }
      }),
    )
    const pages = await Promise.all(ready.map(({ browser, url }) => browser.get(url)))
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 409])
    expect((await Promise.all(people.map(factsOf))).flat()).toEqual(['user.oidc_linked'])
  })

  it('ID-28 has one identity a person; the old one is taken off first', async () => {
    const [person, first, second] = [await oidc.world.member(), oidc.provider.account(), oidc.provider.account()]
    const from = await oidc.signedIn(person)
    await oidc.link(from, first)
    const again = await oidc.signedIn(person)
    expect(codeOf(await oidc.link(again, second))).toBe('409 ALREADY_LINKED')
    expect(await personOf(oidc, first)).toBe(person.id)
  })

  it('ID-59 works in an archived org', async () => {
    const [person, account] = [await oidc.world.otherOrg(), oidc.provider.account()]
    await oidc.world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [
      person.orgId,
    ])
    expect((await oidc.link(await oidc.signedIn(person), account)).status).toBe(303)
    const browser = oidc.browser()
    await oidc.signIn(browser, account)
    expect((await oidc.viewerOf(browser)).user).toEqual({ id: person.id })
  })
})

describe('unlinking it', () => {
  const UNLINK = `mutation { viewerUnlinkOidc { __typename ... on Error { code message } } }`
  const unlink = async (person: Actor) => (await person.run(UNLINK)).viewerUnlinkOidc
  const linked = async (set = 'email = NULL') => {
    const [person, account] = [await oidc.world.member(), oidc.provider.account()]
    await linkBySql(oidc, person, account)
    await oidc.world.sql(`UPDATE identity.users SET ${set} WHERE id = $1`, [person.userId])
    return { person, account }
  }

  it.each([
    ['neither password nor email', 'email = NULL'],
    ['an email that was never verified', `email = '${newEmail()}'`],
  ])('ID-29 is refused to whoever has %s', async (_, set) => {
    const { person, account } = await linked(set)
    expect(await unlink(person)).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' })
    expect(await personOf(oidc, account)).toBe(person.id)
    expect(await factsOf(person)).toEqual([])
  })

  it.each([
    ['a verified email', `email = '${newEmail()}', email_verified_at = now()`],
    ['a password', `email = '${newEmail()}', password_hash = 'x'`],
  ])('ID-29 leaves %s to sign in with, once', async (_, set) => {
    const { person, account } = await linked(set)
    expect(await unlink(person)).toEqual({ __typename: 'ViewerUnlinkOidcPayload' })
    expect(await unlink(person)).toEqual({ __typename: 'ViewerUnlinkOidcPayload' })
    expect(await factsAbout(oidc.world, person.userId)).toMatchObject([
      { type: 'user.oidc_unlinked', actorUserId: person.userId, payload: {} },
    ])
    expect(await personOf(oidc, account)).toBeUndefined()
    expect(codeOf(await oidc.signIn(oidc.browser(), account))).toBe('409 LINK_FIRST')
    // It is free for whoever proves it next.
    const next = await oidc.world.member()
    expect((await oidc.link(await oidc.signedIn(next), account)).status).toBe(303)
  })

  it('ID-4 is not for a meeting client', async () => {
    const { person } = await linked(`email = '${newEmail()}', email_verified_at = now()`)
    expect(await unlink(await oidc.world.embedded(person))).toMatchObject({ __typename: 'ForbiddenError' })
  })

  it('ID-28 signs in nobody whose identity was taken off while the provider was asked', async () => {
    const { person, account } = await linked(`email = '${newEmail()}', email_verified_at = now()`)
    const browser = oidc.browser()
    const url = await oidc.authorize(browser, await browser.get(oidc.at(START)), account)
    const held = await oidc.world.hold(`UPDATE identity.users SET issuer = '', subject = '' WHERE id = $1`, [
      person.userId,
    ])
    const page = browser.get(url)
    await oidc.world.untilBlocked()
    await held.release()
    expect(codeOf(await page)).toBe('403 SIGN_IN_FAILED')
    expect(browser.cookie(url, 'moothall')).toBeUndefined()
  })
})
