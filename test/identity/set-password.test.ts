import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Actor } from '../support/actor.ts'
import type { World } from '../support/world.ts'
import { duringComputation, useCheapPasswords, useRealPasswords } from './computations.ts'
import { asNobody, configure, factsAbout, givePassword, PASSWORD, SIGN_IN, startIdentityApp } from './identity-app.ts'
import { catchMail, mailedTo, withCode, withToken } from './mailed.ts'

const NEW = 'another horse battery'
const SET = `mutation ($input: ViewerSetPasswordInput!) { viewerSetPassword(input: $input) { __typename
  ... on ViewerSetPasswordPayload { viewer { user { id } } }
  ... on Error { code message } ... on InvalidInputError { issues { path message } } } }`
const DONE = { __typename: 'ViewerSetPasswordPayload' }

let world: World
let person: Actor
let email: string

beforeAll(async () => {
  useCheapPasswords()
  world = await startIdentityApp()
})
beforeEach(async () => {
  configure()
  catchMail()
  person = await world.member()
  email = await givePassword(world, person)
})
afterAll(async () => {
  useRealPasswords()
  await world?.close()
})

const set = async (actor: Pick<Actor, 'client'>, input: { password?: string; currentPassword?: string }) => {
  const { data, errors } = await actor.client.send(SET, { input: { password: NEW, ...input } })
  return errors ? { code: errors[0]?.extensions.code } : data.viewerSetPassword
}
const signIn = async (password: string) =>
  (await asNobody(world, SIGN_IN, { input: { email, password, delivery: 'BEARER' } })).data?.sessionCreateWithPassword
const signedInBy = async (method: string, minutesAgo = 0) => {
  await world.sql(
    `UPDATE identity.sessions SET method = $2, created_at = now() - make_interval(mins => $3) WHERE id = $1`,
    [person.sessionId, method, minutesAgo],
  )
}
const hash = async () =>
  (
    await world.sql<{ password_hash: string | null }>('SELECT password_hash FROM identity.users WHERE id = $1', [
      person.userId,
    ])
  )[0]!.password_hash

describe('a new password', () => {
  it('ID-27 is set by who knows the current one, and ends all other sessions', async () => {
    const other = await signIn(PASSWORD)
    expect(await set(person, { currentPassword: PASSWORD })).toMatchObject(DONE)

    expect(await signIn(PASSWORD)).toMatchObject({ code: 'SIGN_IN_FAILED' })
    expect(await signIn(NEW)).toHaveProperty('session')
    expect(await person.client.run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'MEMBER' } })
    const ended = await world.app.client(other.token).send('{ viewer { standing } }')
    expect(ended.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }])
    const facts = await factsAbout(world, person.userId)
    expect(facts.filter(({ type }) => type === 'user.password_changed')).toMatchObject([
      { actorUserId: person.userId, payload: {} },
    ])
    expect(JSON.stringify(await world.sql('SELECT * FROM platform.audit_events'))).not.toContain(NEW)
  })

  it('ID-27 is refused with a wrong current one, whatever the session, and tries are counted', async () => {
    configure({}, { signInPersonAddress: 2 })
    await signedInBy('magic_link')
    for (let at = 0; at < 2; at++) {
      expect(await set(person, { currentPassword: NEW })).toMatchObject({
        code: 'INVALID_INPUT',
        issues: [{ path: ['input', 'currentPassword'] }],
      })
    }
    expect(await set(person, { currentPassword: PASSWORD })).toEqual({ code: 'RATE_LIMITED' })
    expect(await signIn(PASSWORD)).toHaveProperty('session')
  })

  it.each(['magic_link', 'code', 'oidc'])(
    'ID-27 needs no current one within 15 minutes of a sign-in by %s',
    async (method) => {
      await signedInBy(method, 14)
      expect(await set(person, {})).toMatchObject(DONE)
      await signedInBy(method, 15)
      expect(await set(person, { password: `${NEW} too` })).toMatchObject({ code: 'FORBIDDEN' })
      expect(await signIn(NEW)).toHaveProperty('session')
    },
  )

  it('ID-27 is not set without the current one in a session by password', async () => {
    expect(await set(person, {})).toMatchObject({ code: 'FORBIDDEN' })
    expect(await signIn(PASSWORD)).toHaveProperty('session')
  })

  it('ID-27 is set after accepting an invitation by who has none, and replaces none that way', async () => {
    await signedInBy('invite')
    expect(await set(person, {})).toMatchObject({ code: 'FORBIDDEN' })
    await world.sql('UPDATE identity.users SET password_hash = NULL WHERE id = $1', [person.userId])
    expect(await set(person, {})).toMatchObject(DONE)
    expect(await set(person, { password: `${NEW} too` })).toMatchObject({ code: 'FORBIDDEN' })
  })

  it('ID-27 is the way back for who has forgotten it: by link and by code', async () => {
    const link = await mailedTo(world, email)
    const byLink = await withToken(world, link.token)
    expect(await set({ client: world.app.client(byLink.token) }, {})).toMatchObject(DONE)
    expect(await signIn(NEW)).toHaveProperty('session')

    const byCode = await withCode(world, email, (await mailedTo(world, email)).code)
    expect(await set({ client: world.app.client(byCode.token) }, { password: PASSWORD })).toMatchObject(DONE)
    expect(await signIn(PASSWORD)).toHaveProperty('session')
  })

  it('ID-22, 27 is no weak one, and none computed then', async () => {
    const before = await hash()
    for (const password of ['short', email, 'x'.repeat(257)]) {
      expect(await set(person, { password, currentPassword: PASSWORD })).toMatchObject({
        code: 'INVALID_INPUT',
        issues: [{ path: ['input', 'password'] }],
      })
    }
    expect(await hash()).toBe(before)
  })

  it('ID-27 is refused when another was set while it was computed', async () => {
    const answer = await duringComputation(
      () => world.sql(`UPDATE identity.users SET password_hash = 'another' WHERE id = $1`, [person.userId]),
      () => set(person, { currentPassword: PASSWORD }),
    )
    expect(answer).toMatchObject({ code: 'CONFLICT' })
    expect(await hash()).toBe('another')
  })

  it('ID-27 is refused when the session was ended while it was computed', async () => {
    const before = await hash()
    const answer = await duringComputation(
      () =>
        world.sql(`UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user' WHERE id = $1`, [
          person.sessionId,
        ]),
      () => set(person, { currentPassword: PASSWORD }),
    )
    expect(answer).toEqual({ code: 'UNAUTHENTICATED' })
    expect(await hash()).toBe(before)
  })

  it('ID-27 is one of two set at once', async () => {
    const answers = await Promise.all([
      set(person, { currentPassword: PASSWORD }),
      set(person, { currentPassword: PASSWORD, password: `${NEW} too` }),
    ])
    const types = answers.map(({ __typename }) => __typename)
    expect(types.filter((type) => type === 'ViewerSetPasswordPayload')).toHaveLength(1)
    // Whoever comes so late that the other has ended already brings a password that is not the current one any more.
    expect(types.filter((type) => type === 'ConflictError' || type === 'InvalidInputError')).toHaveLength(1)
  })
})

it('ID-4, 12, 27 anonymous people, guests, meeting clients, former members and nobody set none', async () => {
  const { room } = await world.pokerRoom()
  const former = await world.member()
  const made = {
    anonymous: await world.anonymous(),
    guest: await world.guest(room),
    embedded: await world.embedded(person),
  }
  await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [former.userId])
  const before = await world.sql('SELECT id, password_hash FROM identity.users ORDER BY id')

  for (const [name, actor] of Object.entries(made)) {
    for (const input of [{}, { currentPassword: PASSWORD }]) {
      expect([name, await set(actor, input)]).toMatchObject([name, { code: 'FORBIDDEN' }])
    }
  }
  expect(await set(former, { currentPassword: PASSWORD })).toEqual({ code: 'FORBIDDEN' })
  expect(await set({ client: world.app.client() }, {})).toEqual({ code: 'UNAUTHENTICATED' })
  expect(await world.sql('SELECT id, password_hash FROM identity.users ORDER BY id')).toEqual(before)
})
