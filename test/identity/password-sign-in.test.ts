import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyPassword } from '../../src/identity/session/password.ts'
import type { Actor } from '../support/actor.ts'
import { uuidOf, type World } from '../support/world.ts'
import {
  countComputations,
  duringComputation,
  hashedWith,
  holdComputations,
  useCheapPasswords,
  useRealPasswords,
} from './computations.ts'
import {
  asNobody,
  configure,
  factsAbout,
  givePassword,
  newAddress,
  PASSWORD,
  SIGN_IN,
  startIdentityApp,
} from './identity-app.ts'

let world: World
let person: Actor
let email: string

beforeAll(async () => {
  useCheapPasswords()
  world = await startIdentityApp()
  person = await world.member()
  email = await givePassword(world, person)
})
beforeEach(() => configure())
afterAll(async () => {
  useRealPasswords()
  await world?.close()
})

type Input = { email?: string; password?: string; orgSlug?: string; delivery?: string }
const send = (input: Input = {}, address?: string) =>
  asNobody(world, SIGN_IN, { input: { email, password: PASSWORD, delivery: 'BEARER', ...input } }, address)
const signIn = async (input?: Input, address?: string) => {
  const { data, errors } = await send(input, address)
  expect(errors).toBeUndefined()
  return data?.sessionCreateWithPassword
}

/** Puts a person into another org of the world, which they used last. */
async function joinAnotherOrg({ userId }: Actor): Promise<{ orgId: string; slug: string }> {
  const { orgId } = await world.otherOrg()
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at, last_used_at)
     VALUES ($1, $2, 'viewer', 'newcomer', now(), now() - interval '2 hours')`,
    [orgId, userId],
  )
  const [{ slug }] = (await world.sql<{ slug: string }>('SELECT slug FROM identity.orgs WHERE id = $1', [orgId])) as [
    { slug: string },
  ]
  return { orgId, slug }
}

describe('signing in by password', () => {
  it('ID-22 signs the person in and records it as theirs', async () => {
    const { token, session } = await signIn()

    expect(session).toMatchObject({ isCurrent: true, method: 'PASSWORD', user: { id: person.id } })
    expect(await world.app.client(token).run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'MEMBER' } })
    expect(await factsAbout(world, uuidOf(session.id))).toMatchObject([
      { type: 'session.created', actorKind: 'human', actorUserId: person.userId, payload: { method: 'password' } },
    ])
    const [row] = await world.sql(
      `SELECT last_login_at > now() - interval '10 s' AS logged_in FROM identity.users WHERE id = $1`,
      [person.userId],
    )
    expect(row).toEqual({ logged_in: true })
  })

  it('ID-22 takes the email in any case and with blanks around', async () => {
    expect(await signIn({ email: `  ${email.toUpperCase()} ` })).toMatchObject({ session: { user: { id: person.id } } })
  })

  it('ID-23 answers alike, with one computation each, whatever does not fit', async () => {
    const [passwordless, disabled] = await Promise.all([world.member(), world.member()])
    const disabledEmail = await givePassword(world, disabled)
    await world.sql(`UPDATE identity.users SET email = 'no-password@example.org' WHERE id = $1`, [passwordless.userId])
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled.userId])
    const tries: Input[] = [
      { email: 'unknown@example.org' },
      { email: 'no address at all' },
      { email: 'no-password@example.org' },
      { email: disabledEmail },
      { email: disabledEmail, password: 'wrong horse battery' },
      { password: 'wrong horse battery' },
      { password: '' },
    ]

    const answers: unknown[] = []
    const computed: number[] = []
    for (const input of tries) {
      computed.push(await countComputations(async () => answers.push((await send(input)).data)))
    }

    expect(computed).toEqual(tries.map(() => 1))
    const failed = { __typename: 'SignInFailedError', code: 'SIGN_IN_FAILED', message: expect.any(String) }
    expect(answers[0]).toEqual({ sessionCreateWithPassword: failed })
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  })

  it('ID-23 refuses an unknown email no sooner than a known one, whose failure is written down meanwhile', async () => {
    for (const input of [{ email: 'unknown@example.org' }, { password: 'wrong horse battery' }]) {
      const begun = performance.now()
      expect(await signIn(input)).toMatchObject({ code: 'SIGN_IN_FAILED' })
      expect(performance.now() - begun).toBeGreaterThanOrEqual(49)
    }
  })

  it('ID-23 records a failure of a known person in the org they used last, without address or email', async () => {
    const known = await world.member()
    const mail = await givePassword(world, known)
    const recent = await joinAnotherOrg(known)
    await signIn({ email: mail, password: 'wrong horse battery' })
    await world.sql('UPDATE identity.users SET password_hash = NULL WHERE id = $1', [known.userId])
    await signIn({ email: mail })
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [known.userId])
    await givePassword(world, known).then((other) => signIn({ email: other }))

    const facts = await factsAbout(world, known.userId)
    expect(facts.map(({ type }) => type)).toEqual(Array(3).fill('auth.sign_in_failed'))
    expect(facts.map(({ actorKind, payload }) => ({ actorKind, ...payload }))).toEqual([
      { actorKind: 'system', method: 'password', reason: 'wrong_password' },
      { actorKind: 'system', method: 'password', reason: 'no_password' },
      { actorKind: 'system', method: 'password', reason: 'not_active' },
    ])
    const orgs = await world.sql('SELECT DISTINCT org_id FROM platform.audit_events WHERE target_id = $1', [
      known.userId,
    ])
    expect(orgs).toEqual([{ org_id: recent.orgId }])
  })

  it('ID-22 rewrites a hash with old parameters at the next success, and at no failure', async () => {
    const veteran = await world.member()
    const mail = await givePassword(world, veteran)
    const old = await hashedWith(PASSWORD, { memory: 8192, passes: 2, parallelism: 1 })
    await world.sql('UPDATE identity.users SET password_hash = $2 WHERE id = $1', [veteran.userId, old])
    const hash = async () => {
      const rows = await world.sql<{ password_hash: string }>(
        'SELECT password_hash FROM identity.users WHERE id = $1',
        [veteran.userId],
      )
      return rows[0]?.password_hash
    }

    await signIn({ email: mail, password: 'wrong horse battery' })
    expect(await hash()).toBe(old)
    expect((await signIn({ email: mail })).token).toMatch(/^mhs_/)
    const rewritten = await hash()
    expect(rewritten).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=4\$/)
    expect((await signIn({ email: mail })).token).toMatch(/^mhs_/)
    expect(await hash()).toBe(rewritten)
  })

  it('ID-22 signs nobody in whose password was changed while the old one was computed', async () => {
    const changing = await world.member()
    const mail = await givePassword(world, changing)
    const answer = await duringComputation(
      () => world.sql(`UPDATE identity.users SET password_hash = 'another' WHERE id = $1`, [changing.userId]),
      () => signIn({ email: mail }),
    )
    expect(answer).toMatchObject({ __typename: 'SignInFailedError' })
    const sessions = await world.sql(`SELECT id FROM identity.sessions WHERE user_id = $1 AND id <> $2`, [
      changing.userId,
      changing.sessionId,
    ])
    expect(sessions).toEqual([])
  })

  it('ID-22 refuses all when the operator has switched it off, and computes nothing', async () => {
    configure({ MOOTHALL_PASSWORD_SIGN_IN: 'false' })
    const computed = await countComputations(async () => {
      expect(await signIn()).toMatchObject({ __typename: 'ForbiddenError' })
    })
    expect(computed).toBe(0)
  })

  it('ID-22 answers RATE_LIMITED when too many passwords are being computed, and forgives the try', async () => {
    configure({}, { signInPersonAddress: 1 })
    const release = holdComputations()
    const crowd = Array.from({ length: 4 + 64 }, () => verifyPassword(PASSWORD, null))
    const address = newAddress()
    const refused = await send({}, address)
    release()
    await Promise.all(crowd)

    expect(refused.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    expect((await signIn({}, address)).token).toMatch(/^mhs_/)
  })

  it('PLAT-59 refuses what cannot be an email or a password as InvalidInputError', async () => {
    const inputs: [Input, string][] = [
      [{ email: '' }, 'email'],
      [{ email: `${'x'.repeat(250)}@example.org` }, 'email'],
      [{ email: 'a\u0000@example.org' }, 'email'],
      [{ password: 'correct horse\ud800' }, 'password'],
      [{ password: 'x'.repeat(1025) }, 'password'],
      [{ orgSlug: '' }, 'orgSlug'],
    ]
    for (const [input, field] of inputs) {
      expect(await signIn(input)).toMatchObject({
        __typename: 'InvalidInputError',
        issues: [{ path: ['input', field] }],
      })
    }
  })
})

describe('the org a sign-in is active in', () => {
  it('ID-17 is the one asked for, else the one used last', async () => {
    const traveller = await world.member()
    const mail = await givePassword(world, traveller)
    const recent = await joinAnotherOrg(traveller)
    const orgOf = async (input: Input) => {
      const { token } = await signIn({ email: mail, ...input })
      return world.app.client(token).run<unknown, object>('{ viewer { standing org { slug } orgs { slug standing } } }')
    }

    const orgs = [
      { slug: recent.slug, standing: 'VIEWER' },
      { slug: world.org.slug, standing: 'MEMBER' },
    ]
    expect(await orgOf({})).toEqual({ viewer: { standing: 'VIEWER', org: { slug: recent.slug }, orgs } })
    expect(await orgOf({ orgSlug: world.org.slug })).toMatchObject({
      viewer: { standing: 'MEMBER', org: { slug: world.org.slug } },
    })
    expect(await orgOf({})).toMatchObject({ viewer: { org: { slug: world.org.slug } } })
  })

  it('ID-17 is none that the person is no live member of, whether it exists or not', async () => {
    const elsewhere = await world.otherOrg()
    const [row] = await world.sql<{ slug: string }>('SELECT slug FROM identity.orgs WHERE id = $1', [elsewhere.orgId])
    const foreign = await signIn({ orgSlug: row?.slug ?? '' })

    expect(foreign).toMatchObject({ __typename: 'NotFoundError', path: ['input', 'orgSlug'] })
    expect(await signIn({ orgSlug: 'no-such-org' })).toEqual(foreign)
  })

  it('ID-17 refuses a person without any as UNAUTHENTICATED, in the words of a wrong password', async () => {
    const left = await world.member()
    const mail = await givePassword(world, left)
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [left.userId])
    const { message } = await signIn({ email: mail, password: 'wrong horse battery' })

    expect((await send({ email: mail })).errors).toMatchObject([{ message, extensions: { code: 'UNAUTHENTICATED' } }])
  })

  it('ID-2 writes when a membership was used once an hour at most', async () => {
    const member = await world.member()
    const mail = await givePassword(world, member)
    const usedAt = async () => {
      const rows = await world.sql<{ at: string }>(
        'SELECT last_used_at::text AS at FROM identity.memberships WHERE user_id = $1',
        [member.userId],
      )
      return rows[0]?.at
    }
    await signIn({ email: mail })
    const first = await usedAt()
    await signIn({ email: mail })
    expect(await usedAt()).toBe(first)
    await world.sql(`UPDATE identity.memberships SET last_used_at = now() - interval '61 min' WHERE user_id = $1`, [
      member.userId,
    ])
    await signIn({ email: mail })
    expect((await usedAt())! > first!).toBe(true)
  })
})

describe('the rates of signing in', () => {
  it('PLAT-69 allows five failures of one person from one address, a success in between is none', async () => {
    const address = newAddress()
    const wrong = () => send({ password: 'wrong horse battery' }, address)
    for (let at = 0; at < 4; at++) expect((await wrong()).data?.sessionCreateWithPassword.code).toBe('SIGN_IN_FAILED')
    for (let at = 0; at < 3; at++) expect((await signIn({}, address)).token).toMatch(/^mhs_/)
    expect((await wrong()).data?.sessionCreateWithPassword.code).toBe('SIGN_IN_FAILED')

    const limited = await send({}, address)
    expect(limited.data).toEqual({ sessionCreateWithPassword: null })
    expect(limited.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    expect((await signIn({}, newAddress())).token).toMatch(/^mhs_/)
  })

  it('PLAT-69 limits an unknown email as it limits a known one', async () => {
    const address = newAddress()
    const unknown = () => send({ email: 'nobody@example.org' }, address)
    for (let at = 0; at < 5; at++) expect((await unknown()).data?.sessionCreateWithPassword.code).toBe('SIGN_IN_FAILED')
    expect((await unknown()).errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
  })

  it('PLAT-70 counts ten aliases as ten tries and refuses eleven', async () => {
    const field = `sessionCreateWithPassword(input: { email: "${email}", password: "wrong horse battery", delivery: BEARER })`
    const document = (aliases: number) =>
      `mutation { ${Array.from({ length: aliases }, (_, at) => `a${at}: ${field} { __typename }`).join(' ')} }`
    const address = newAddress()

    const computed = await countComputations(async () => {
      const { data, errors } = await asNobody(world, document(10), {}, address)
      expect(Object.values(data ?? {}).filter(Boolean)).toHaveLength(5)
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(5).fill('RATE_LIMITED'))
    })
    expect(computed).toBe(5)
    expect((await asNobody(world, document(11), {})).errors).toMatchObject([
      { extensions: { code: 'QUERY_TOO_COMPLEX' } },
    ])
  })
})

type Viewer = { viewer: { sessions: { totalCount: number } } }

describe('the bound on sessions', () => {
  it('ID-19 ends the least recently seen when the 51st begins, and no dead one', async () => {
    const busy = await world.member()
    const mail = await givePassword(world, busy)
    await world.sql(
      `INSERT INTO identity.sessions (org_id, user_id, token_hash, method, created_at, last_seen_at)
       SELECT $1, $2, sha256(('bound ' || n)::bytea), 'password', now() - interval '2 days', now() - n * interval '1 min'
       FROM generate_series(1, 49) AS n`,
      [busy.orgId, busy.userId],
    )
    // A dead one, which counts for nothing: idle for too long.
    await world.sql(
      `INSERT INTO identity.sessions (org_id, user_id, token_hash, method, created_at, last_seen_at)
       VALUES ($1, $2, sha256('dead'), 'password', now() - interval '20 days', now() - interval '15 days')`,
      [busy.orgId, busy.userId],
    )

    const { token } = await signIn({ email: mail })
    const ended = await world.sql<{ id: string; minutes: number }>(
      `SELECT id, round(extract(epoch FROM now() - last_seen_at) / 60)::int AS minutes
       FROM identity.sessions WHERE user_id = $1 AND revoke_reason = 'limit'`,
      [busy.userId],
    )
    expect(ended).toEqual([{ id: expect.any(String), minutes: 49 }])
    expect(await factsAbout(world, ended[0]!.id)).toMatchObject([
      { type: 'session.revoked', payload: { userId: busy.userId, reason: 'limit' } },
    ])
    const { viewer } = await world.app.client(token).run<Viewer, object>('{ viewer { sessions { totalCount } } }')
    expect(viewer.sessions.totalCount).toBe(50)
  })

  it('ID-19 holds when ten sign in at once', async () => {
    const busy = await world.member()
    const mail = await givePassword(world, busy)
    await world.sql(
      `INSERT INTO identity.sessions (org_id, user_id, token_hash, method)
       SELECT $1, $2, sha256(('crowd ' || n)::bytea), 'password' FROM generate_series(1, 49) AS n`,
      [busy.orgId, busy.userId],
    )
    await Promise.all(Array.from({ length: 10 }, () => signIn({ email: mail })))
    const [{ live }] = (await world.sql(
      'SELECT count(*)::int AS live FROM identity.sessions WHERE user_id = $1 AND revoked_at IS NULL',
      [busy.userId],
    )) as [{ live: number }]
    expect(live).toBe(50)
  })
})
