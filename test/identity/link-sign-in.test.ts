import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { signInSettled } from '../../src/identity/sign-in/settings.ts'
import type { Actor } from '../support/actor.ts'
import type { Answer } from '../support/client.ts'
import { uuidOf, type World } from '../support/world.ts'
import { asNobody, configure, factsAbout, newAddress, startIdentityApp } from './identity-app.ts'
import {
  catchMail,
  giveEmail,
  logged,
  mailedTo,
  mails,
  PREVIEW,
  REQUEST,
  requestMail,
  tokenOf,
  withCode,
  withToken,
} from './mailed.ts'

let world: World
let person: Actor
let email: string

beforeAll(async () => {
  world = await startIdentityApp()
})
beforeEach(async () => {
  configure()
  catchMail()
  person = await world.member()
  email = await giveEmail(world, person)
})
afterAll(() => world?.close())

const sessionsOf = ({ userId, sessionId }: Actor) =>
  world.sql('SELECT id, org_id, method FROM identity.sessions WHERE user_id = $1 AND id <> $2', [userId, sessionId])
const tokensOf = ({ userId }: Actor) =>
  world.sql('SELECT * FROM identity.login_tokens WHERE user_id = $1 ORDER BY created_at', [userId])
const preview = async (token: string) => (await asNobody(world, PREVIEW, { token })).data?.loginTokenPreview
const FAILED = { __typename: 'SignInFailedError', code: 'SIGN_IN_FAILED' }

/** Makes the person a member of another org, used more recently than any. */
async function joinAnotherOrg({ userId }: Actor): Promise<string> {
  const { orgId } = await world.otherOrg()
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at, last_used_at)
     VALUES ($1, $2, 'viewer', 'newcomer', now(), now())`,
    [orgId, userId],
  )
  return orgId
}

describe('asking for a sign-in mail', () => {
  it('ID-24 mails a link that signs in once, into the org used last', async () => {
    const { mail, token } = await mailedTo(world, email.toUpperCase())
    expect(mail.to).toBe(email)
    expect(mail.text).toContain(`http://localhost:4000/sign-in#token=${token}`)

    const signedIn = await withToken(world, token)
    expect(signedIn.session).toMatchObject({ method: 'MAGIC_LINK', user: { id: person.id } })
    expect(await world.app.client(signedIn.token).run('{ viewer { standing } }')).toEqual({
      viewer: { standing: 'MEMBER' },
    })
    expect(await factsAbout(world, uuidOf(signedIn.session.id))).toMatchObject([
      { type: 'session.created', actorUserId: person.userId, payload: { method: 'magic_link' } },
    ])
    expect(await withToken(world, token)).toMatchObject(FAILED)
    expect(await sessionsOf(person)).toHaveLength(1)
  })

  it('ID-24 leads to the frontend where there is one of its own', async () => {
    catchMail({ MOOTHALL_FRONTEND_URL: 'https://app.example.org/meet/' })
    const { mail, token } = await mailedTo(world, email)
    expect(mail.text).toContain(`https://app.example.org/meet/sign-in#token=${token}`)
  })

  it('ID-24, PLAT-75 answers before anything is looked up, known email or not, and whatever the mail does', async () => {
    const held = await world.hold('LOCK TABLE identity.users, identity.login_tokens IN ACCESS EXCLUSIVE MODE')
    const ask = async (input: string) => (await asNobody(world, REQUEST, { input: { email: input } })).data
    try {
      const answers = [await ask(email), await ask('unknown@example.org'), await ask('no address at all')]
      expect(answers).toEqual(Array(3).fill({ loginRequest: { __typename: 'LoginRequestPayload', accepted: true } }))
      expect(mails).toEqual([])
    } finally {
      await held.release()
    }
    await signInSettled()
    expect(mails.map(({ to }) => to)).toEqual([email])
  })

  it('ID-24, 29 sends nothing to nobody, to who is not active, and to who is a member nowhere', async () => {
    const [disabled, erased, invited, left, waiting] = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const somebody = await world.member()
        return { ...somebody, email: await giveEmail(world, somebody) }
      }),
    )
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled!.userId])
    await world.sql(`UPDATE identity.users SET status = 'erased' WHERE id = $1`, [erased!.userId])
    await world.sql(`UPDATE identity.users SET status = 'invited' WHERE id = $1`, [invited!.userId])
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [left!.userId])
    await world.sql('UPDATE identity.memberships SET joined_at = NULL WHERE user_id = $1', [waiting!.userId])

    for (const { email: to } of [disabled!, erased!, invited!, left!, waiting!]) await requestMail(world, to)
    await requestMail(world, 'nobody@example.org')
    expect(mails).toEqual([])
  })

  it('ID-24 voids what was sent before, also for another org', async () => {
    const first = await mailedTo(world, email)
    const second = await mailedTo(world, email)
    expect(await withToken(world, first.token)).toMatchObject(FAILED)

    const elsewhere = await joinAnotherOrg(person)
    const third = await mailedTo(world, email)
    expect(await withToken(world, second.token)).toMatchObject(FAILED)
    await withToken(world, third.token)
    expect(await sessionsOf(person)).toMatchObject([{ org_id: elsewhere, method: 'magic_link' }])
  })

  it('ID-24 sends five mails an hour to one person and then none, also when asked at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => asNobody(world, REQUEST, { input: { email } })))
    await signInSettled()
    expect(mails).toHaveLength(5)
    expect((await tokensOf(person)).filter(({ voided_at }) => voided_at === null)).toHaveLength(1)
    expect(await requestMail(world, email)).toBeUndefined()

    await world.sql(`UPDATE identity.login_tokens SET created_at = created_at - interval '1 hour' WHERE user_id = $1`, [
      person.userId,
    ])
    expect(await requestMail(world, email)).toBeDefined()
  })

  it('PLAT-69 takes 20 requests an hour from one address', async () => {
    const address = newAddress()
    for (let at = 0; at < 20; at++) {
      const { data } = await asNobody(world, REQUEST, { input: { email: `n${at}@example.org` } }, address)
      expect(data?.loginRequest.accepted).toBe(true)
    }
    const { errors } = await asNobody(world, REQUEST, { input: { email } }, address)
    expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    expect(await requestMail(world, email)).toBeDefined()
  })

  it('PLAT-75, 78 is refused, like codes and links, where it is switched off or nothing could carry it', async () => {
    const { token, code } = await mailedTo(world, email)
    for (const env of [
      { MOOTHALL_LINK_SIGN_IN: 'false' },
      { NODE_ENV: 'production', MOOTHALL_PUBLIC_URL: 'https://m.example' },
    ]) {
      catchMail(env)
      const { data } = await asNobody(world, REQUEST, { input: { email } })
      expect(data?.loginRequest).toMatchObject({ __typename: 'ForbiddenError' })
      expect(await withToken(world, token)).toMatchObject({ __typename: 'ForbiddenError' })
      expect(await withCode(world, email, code)).toMatchObject({ __typename: 'ForbiddenError' })
      expect(await preview(token)).toBeNull()
    }
    catchMail()
    expect(await withToken(world, token)).toMatchObject({ session: { method: 'MAGIC_LINK' } })
  })
})

describe('a mailed link', () => {
  it('ID-25 makes one session when 20 use it at once', async () => {
    const { token } = await mailedTo(world, email)
    const answers = await Promise.all(Array.from({ length: 20 }, () => withToken(world, token)))
    expect(answers.filter(({ session }) => session)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'SIGN_IN_FAILED')).toHaveLength(19)
    expect(await sessionsOf(person)).toHaveLength(1)
  })

  it('ID-25 shows what it would do, as often as it is opened, and spends nothing', async () => {
    const { token } = await mailedTo(world, email)
    const shown = { orgName: 'Org', purpose: 'SIGN_IN', expiresAt: expect.any(String) }
    const left = Date.parse((await preview(token)).expiresAt) - Date.now()
    expect(left / 60_000).toBeGreaterThan(14)
    expect(left / 60_000).toBeLessThanOrEqual(15.1)
    expect(await preview(token)).toEqual(shown)
    expect(await withToken(world, token)).toMatchObject({ session: { user: { id: person.id } } })
    expect(await preview(token)).toBeNull()
    for (const other of ['mh_link_', `mh_link_${'A'.repeat(43)}`, token.slice(8)])
      expect(await preview(other)).toBeNull()
  })

  it('ID-25 opens nothing once expired, by the clock of the database', async () => {
    const { token } = await mailedTo(world, email)
    await world.sql('UPDATE identity.login_tokens SET expires_at = clock_timestamp() WHERE user_id = $1', [
      person.userId,
    ])
    expect(await preview(token)).toBeNull()
    expect(await withToken(world, token)).toMatchObject(FAILED)
  })

  it('ID-25 opens nothing that expires while it is being used', async () => {
    const { token } = await mailedTo(world, email)
    const held = await world.hold('SELECT FROM identity.users WHERE id = $1 FOR UPDATE', [person.userId])
    const using = withToken(world, token)
    await world.untilBlocked()
    await world.sql('UPDATE identity.login_tokens SET expires_at = now() WHERE user_id = $1', [person.userId])
    await held.release()
    expect(await using).toMatchObject(FAILED)
    expect(await sessionsOf(person)).toEqual([])
  })

  it('ID-25, 29 opens nothing for who was disabled, erased or revoked since; it is on record', async () => {
    for (const change of [
      `UPDATE identity.users SET status = 'disabled' WHERE id = $1`,
      `UPDATE identity.users SET status = 'erased' WHERE id = $1`,
      'UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1',
    ]) {
      const somebody = await world.member()
      const { token, code, mail } = await mailedTo(world, await giveEmail(world, somebody))
      await world.sql(change, [somebody.userId])
      expect(await preview(token)).toBeNull()
      expect(await withToken(world, token)).toMatchObject(FAILED)
      expect(await withCode(world, mail.to, code)).toMatchObject(FAILED)
      expect(await sessionsOf(somebody)).toEqual([])
      expect((await factsAbout(world, somebody.userId))[0]).toMatchObject({
        type: 'auth.sign_in_failed',
        actorKind: 'system',
        payload: { method: 'magic_link', reason: 'not_active' },
      })
    }
  })

  it('ID-25 does not sign in to an org that is being purged', async () => {
    const { orgId } = await world.otherOrg()
    await world.sql('UPDATE identity.memberships SET last_used_at = now() WHERE user_id = $1', [person.userId])
    await world.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at, last_used_at)
       VALUES ($1, $2, 'member', 'm', now(), now() + interval '1 minute')`,
      [orgId, person.userId],
    )
    const { token } = await mailedTo(world, email)
    await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [orgId])
    expect(await preview(token)).toMatchObject({ purpose: 'SIGN_IN' })
    await world.sql(`UPDATE identity.orgs SET status = 'purging' WHERE id = $1`, [orgId])
    expect(await preview(token)).toBeNull()
    expect(await withToken(world, token)).toMatchObject(FAILED)
  })

  it('ID-25 proves the address to be theirs', async () => {
    const { token } = await mailedTo(world, email)
    await withToken(world, token)
    const rows = await world.sql(
      `SELECT email_verified_at IS NOT NULL AS verified, last_login_at > now() - interval '1 minute' AS recent
       FROM identity.users WHERE id = $1`,
      [person.userId],
    )
    expect(rows).toEqual([{ verified: true, recent: true }])
  })

  it('PLAT-69 counts failures by address, whatever the tokens', async () => {
    configure({}, { signInAddress: 3 })
    const address = newAddress()
    const { token } = await mailedTo(world, email)
    for (let at = 0; at < 3; at++) {
      expect(await withToken(world, `mh_link_${String(at).repeat(43)}`, address)).toMatchObject(FAILED)
    }
    expect(await withToken(world, token, address)).toMatchObject({ code: 'RATE_LIMITED' })
    expect(await withToken(world, token)).toMatchObject({ session: { method: 'MAGIC_LINK' } })
  })

  it('ID-13 sets the cookie and gives no token where none is asked for', async () => {
    const { token } = await mailedTo(world, email)
    const document =
      'mutation ($input: SessionCreateWithTokenInput!) { sessionCreateWithToken(input: $input) { ... on SessionCreateWithTokenPayload { token csrfToken } } }'
    const response = await world.app.client().post(document, { input: { token } })
    expect(response.headers.getSetCookie().join()).toMatch(/moothall=mhs_[\w-]{43}; .*HttpOnly/)
    const { data } = (await response.json()) as Answer
    expect(data).toEqual({ sessionCreateWithToken: { token: null, csrfToken: expect.any(String) } })
  })
})

it('ID-24, PLAT-82 keeps neither token nor code nor email, but where it was asked for from', async () => {
  const address = newAddress()
  await asNobody(world, REQUEST, { input: { email } }, address)
  await signInSettled()
  const [row] = await tokensOf(person)
  const mail = mails[0]!
  const token = tokenOf(mail)
  expect(row).toMatchObject({ purpose: 'sign_in', ip: expect.stringMatching(/^2001:db8:/), created_by: null })
  expect(row?.['token_hash']).toEqual(createHash('sha256').update(token).digest())
  const rows = JSON.stringify(await world.sql('SELECT to_jsonb(t) FROM identity.login_tokens AS t'))
  for (const secret of [token, token.slice(8), email]) expect(rows).not.toContain(secret)
  expect(Object.keys(row!)).not.toContain('email')
})

it('ID-24 tells of failures behind the answer, and only in the log', async () => {
  expect(await requestMail(world, email)).toBeDefined()
  const held = await world.hold('ALTER TABLE identity.login_tokens ADD CONSTRAINT planted CHECK (false) NOT VALID')
  await held.release()
  try {
    const { data, errors } = await asNobody(world, REQUEST, { input: { email } })
    expect(errors).toBeUndefined()
    expect(data?.loginRequest.accepted).toBe(true)
    await signInSettled()
    expect(mails).toHaveLength(1)
    expect(logged.join()).toContain('"constraint":"planted"')
    expect(logged.join()).not.toContain(email)
  } finally {
    await world.sql('ALTER TABLE identity.login_tokens DROP CONSTRAINT planted')
  }
})
