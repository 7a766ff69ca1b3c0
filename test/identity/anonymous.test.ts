import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { newCredentials } from '../../src/identity/session/delivery.ts'
import { uuidOf, type World } from '../support/world.ts'
import { asNobody, CREATE_ANONYMOUS, configure, factsAbout, newAddress, startIdentityApp } from './identity-app.ts'

let world: World

beforeAll(async () => {
  world = await startIdentityApp()
})
beforeEach(() => configure())
afterAll(() => world?.close())

const join = async (input: object, address?: string) => {
  const bearer = { orgSlug: world.org.slug, displayName: 'Ann', delivery: 'BEARER', ...input }
  return asNobody(world, CREATE_ANONYMOUS, { input: bearer }, address)
}
const outcome = async (input: object) => (await join(input)).data?.sessionCreateAnonymous

it('ID-21 makes an anonymous person at home in the org, signed in as a participant without membership', async () => {
  const { token, csrfToken, session } = await outcome({ displayName: '  Zoë ' })
  const userId = uuidOf(session.user.id)

  expect(session).toMatchObject({
    isCurrent: true,
    method: 'ANONYMOUS',
    user: { displayName: 'Zoë', account: 'ANONYMOUS' },
  })
  expect(csrfToken).toBeNull()
  const { viewer } = await world.app
    .client(token)
    .run<{ viewer: object }, object>('{ viewer { standing orgs { slug } } }')
  expect(viewer).toEqual({ standing: 'PARTICIPANT', orgs: [] })
  const [row] = await world.sql(
    `SELECT home_org_id, email, status, (SELECT count(*)::int FROM identity.memberships AS m WHERE m.user_id = u.id) AS memberships
     FROM identity.users AS u WHERE id = $1`,
    [userId],
  )
  expect(row).toEqual({ home_org_id: world.org.id, email: null, status: 'active', memberships: 0 })
})

it('ID-21 records the session under the request that made it, and neither address nor name', async () => {
  const { session } = await outcome({})
  const [created, ...more] = await factsAbout(world, uuidOf(session.id))

  expect(more).toEqual([])
  expect(created).toMatchObject({
    type: 'session.created',
    actorKind: 'human',
    actorUserId: uuidOf(session.user.id),
    payload: { method: 'anonymous' },
    requestId: expect.any(String),
  })
})

it('ID-21 answers for an org that lets nobody in, or takes no writes, as for an unknown slug', async () => {
  const unknown = await outcome({ orgSlug: 'no-such-org' })
  const closed = await world.otherOrg()
  const [{ slug }] = (await world.sql<{ slug: string }>(
    `UPDATE identity.orgs SET allow_anonymous = false WHERE id = $1 RETURNING slug`,
    [closed.orgId],
  )) as [{ slug: string }]
  const notAllowed = await outcome({ orgSlug: slug })
  await world.sql(
    `UPDATE identity.orgs SET allow_anonymous = true, status = 'archived', archived_at = now() WHERE id = $1`,
    [closed.orgId],
  )
  const archived = await outcome({ orgSlug: slug })

  expect(unknown).toMatchObject({ __typename: 'NotFoundError', code: 'NOT_FOUND', path: ['input', 'orgSlug'] })
  expect(notAllowed).toEqual(unknown)
  expect(archived).toEqual(unknown)
  const [{ people }] = (await world.sql(`SELECT count(*)::int AS people FROM identity.users WHERE home_org_id = $1`, [
    closed.orgId,
  ])) as [{ people: number }]
  expect(people).toBe(0)
})

it.each([
  ['an empty name', { displayName: '  ' }, 'displayName'],
  ['65 characters', { displayName: 'x'.repeat(65) }, 'displayName'],
  ['a control character', { displayName: 'Ann\u0007' }, 'displayName'],
  ['a line break', { displayName: 'Ann\nLee' }, 'displayName'],
  ['a text-direction override', { displayName: 'Ann\u202eeeL' }, 'displayName'],
  ['a NUL', { displayName: 'Ann\u0000' }, 'displayName'],
  ['a lone surrogate', { displayName: 'Ann\ud800' }, 'displayName'],
  ['a NUL in the slug', { orgSlug: 'ma\u0000in' }, 'orgSlug'],
  ['a slug that is too long', { orgSlug: 'x'.repeat(65) }, 'orgSlug'],
])('ID-11, PLAT-59 refuses %s as InvalidInputError and makes nobody', async (_, input, field) => {
  const before = await world.sql('SELECT count(*)::int FROM identity.users')
  const refused = await outcome(input)

  expect(refused).toMatchObject({ __typename: 'InvalidInputError', issues: [{ path: ['input', field] }] })
  expect(JSON.stringify(refused)).not.toContain('Ann')
  expect(await world.sql('SELECT count(*)::int FROM identity.users')).toEqual(before)
})

it('ID-13, 14 delivers cookies over HTTP: the token for no script to read, the secret for scripts to echo', async () => {
  const input = { orgSlug: world.org.slug, displayName: 'Ann' }
  const response = await world.app.client().post(CREATE_ANONYMOUS, { input }, { 'x-forwarded-for': newAddress() })
  const { token, csrfToken } = (await response.json()).data.sessionCreateAnonymous
  const cookies = response.headers.getSetCookie()

  expect(token).toBeNull()
  expect(cookies).toEqual([
    expect.stringMatching(/^moothall=mhs_[\w-]{43}; .*HttpOnly/),
    `moothall_csrf=${csrfToken}; Path=/; SameSite=Lax; Max-Age=2592000`,
  ])
  const cookie = cookies.map((line) => line.split(';')[0]).join('; ')
  const ask = async (headers: Record<string, string>) =>
    world.app.client().send('{ viewer { standing } }', {}, { cookie, ...headers })
  expect((await ask({ 'x-moothall-csrf': csrfToken })).data).toEqual({ viewer: { standing: 'PARTICIPANT' } })
  for (const headers of [{}, { 'x-moothall-csrf': `${csrfToken}A` }, { 'x-moothall-csrf': '' }]) {
    expect((await ask(headers)).errors).toMatchObject([{ extensions: { code: 'CSRF_REQUIRED' } }])
  }
})

it('ID-13 names the cookie __Host-moothall where the public address is https', async () => {
  configure({ MOOTHALL_PUBLIC_URL: 'https://moothall.example' })
  const input = { orgSlug: world.org.slug, displayName: 'Ann' }
  const response = await world.app.client().post(CREATE_ANONYMOUS, { input }, { 'x-forwarded-for': newAddress() })

  expect(response.headers.getSetCookie()[0]).toMatch(/^__Host-moothall=mhs_/)
})

it('ID-13 refuses a cookie where no answer can carry one, as over a WebSocket', () => {
  const socket = { cookies: null } as Parameters<typeof newCredentials>[1]

  expect(() => newCredentials('COOKIE', socket)).toThrow(
    expect.objectContaining({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'delivery'], message: expect.any(String) }],
    }),
  )
  expect(newCredentials('BEARER', socket)).toMatchObject({ csrf: null, csrfHash: null })
})

it('ID-13 stores the SHA-256 of the token and nothing that opens the session', async () => {
  const { token, session } = await outcome({})
  const [row] = await world.sql(
    `SELECT token_hash = sha256($2::bytea) AS hashed, csrf_hash, strpos(s::text, $3) AS found
     FROM identity.sessions AS s WHERE id = $1`,
    [uuidOf(session.id), Buffer.from(token), token],
  )
  expect(row).toEqual({ hashed: true, csrf_hash: null, found: 0 })
})

it('PLAT-69, 70 counts each execution by address: of ten aliases as many pass as were left', async () => {
  configure({}, { anonymousSession: 4 })
  const address = newAddress()
  const field = `sessionCreateAnonymous(input: { orgSlug: "${world.org.slug}", displayName: "Ann", delivery: BEARER })`
  const document = (aliases: number) =>
    `mutation { ${Array.from({ length: aliases }, (_, at) => `a${at}: ${field} { __typename }`).join(' ')} }`

  const { data, errors } = await asNobody(world, document(10), {}, address)
  expect(Object.values(data ?? {}).filter(Boolean)).toHaveLength(4)
  expect(errors).toHaveLength(6)
  expect(errors?.every(({ extensions }) => extensions.code === 'RATE_LIMITED')).toBe(true)

  const sameNetwork = address.replace('::1', '::ffff')
  expect((await join({}, sameNetwork)).errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
  expect((await join({}, newAddress())).errors).toBeUndefined()
  expect((await asNobody(world, document(11), {})).errors).toMatchObject([
    { extensions: { code: 'QUERY_TOO_COMPLEX' } },
  ])
})
