import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { refreshCaller, touchSession } from '../../src/identity/index.ts'
import { recheckSessions } from '../../src/identity/session/recheck-sessions.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import type { World } from '../support/world.ts'
import { asNobody, CREATE_ANONYMOUS, callerFor, DAY, factsAbout, newAddress, startIdentityApp } from './identity-app.ts'

let world: World

beforeAll(async () => {
  world = await startIdentityApp()
})
afterAll(() => world?.close())

const VIEWER = '{ viewer { standing } }'
const unauthenticated = [{ extensions: { code: 'UNAUTHENTICATED' } }]

const holds = async ({ client }: Actor) => {
  const { data, errors } = await client.send(VIEWER)
  if (errors) expect(errors).toMatchObject(unauthenticated)
  return data?.viewer?.standing != null
}

/** Moves a session's times so that they lie so many seconds in the past. */
const age = ({ sessionId }: Actor, seconds: { created?: number; seen?: number }) =>
  world.sql(
    `UPDATE identity.sessions SET
       created_at = coalesce(now() - $2::float8 * interval '1 s', created_at),
       last_seen_at = coalesce(now() - $3::float8 * interval '1 s', last_seen_at)
     WHERE id = $1`,
    [sessionId, seconds.created, seconds.seen],
  )

const seenSecondsAgo = async ({ sessionId }: Actor) => {
  const rows = await world.sql<{ ago: number }>(
    `SELECT extract(epoch FROM clock_timestamp() - last_seen_at)::float8 AS ago FROM identity.sessions WHERE id = $1`,
    [sessionId],
  )
  return rows[0]!.ago
}

const sessionRow = async ({ sessionId }: Pick<Actor, 'sessionId'>) => {
  const rows = await world.sql(
    'SELECT revoked_at IS NOT NULL AS revoked, revoke_reason FROM identity.sessions WHERE id = $1',
    [sessionId],
  )
  return rows[0]
}

describe('who is calling', () => {
  it('ID-1 is nobody only when nothing was presented', async () => {
    const person = await world.member()
    const token = person.client.token!
    const wrong = [token.slice(0, -1), `${token}x`, 'mhs_', 'mh_live_abcdefgh', 'x', `${token.slice(0, -2)}AA`]

    expect((await world.app.client().send(VIEWER)).data).toEqual({ viewer: { standing: null } })
    for (const presented of wrong)
      expect((await world.app.client(presented).send(VIEWER)).errors).toMatchObject(unauthenticated)
    for (const authorization of ['', 'Bearer', 'Bearer ', `Basic ${token}`, token]) {
      expect((await world.app.client().send(VIEWER, {}, { authorization })).errors).toMatchObject(unauthenticated)
    }
    const cookie = `moothall=${token.slice(0, -2)}AA`
    expect((await world.app.client().send(VIEWER, {}, { cookie })).errors).toMatchObject(unauthenticated)
  })

  it('ID-1 is whom the Authorization header names, and the cookie is then not read', async () => {
    const [person, viewer] = [await world.member(), await world.viewer()]
    const cookie = `moothall=${viewer.client.token}`

    expect((await person.client.send(VIEWER, {}, { cookie })).data).toEqual({ viewer: { standing: 'MEMBER' } })
    const stale = await person.client.send(VIEWER, {}, { cookie, authorization: 'Bearer mhs_stale' })
    expect(stale.errors).toMatchObject(unauthenticated)
  })

  it('ID-14 asks no CSRF proof of a bearer token, and takes none for a bearer session in a cookie', async () => {
    const person = await world.member()
    const cookie = `moothall=${person.client.token}`
    const { errors } = await world.app.client().send(VIEWER, {}, { cookie, 'x-moothall-csrf': '' })
    expect(errors).toMatchObject([{ extensions: { code: 'CSRF_REQUIRED' } }])
  })

  it.each(['owner', 'admin', 'member', 'viewer'] as const)(
    'ID-2, 3 reads the standing of %s for every request',
    async (role) => {
      const person = await world.member({ role: 'member' })
      await world.sql('UPDATE identity.memberships SET role = $2 WHERE user_id = $1', [person.userId, role])
      expect(await person.run(VIEWER)).toEqual({ viewer: { standing: role.toUpperCase() } })
      await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [person.userId])
      expect(await person.run(VIEWER)).toEqual({ viewer: { standing: null } })
    },
  )

  it('ID-2 leaves a person without standing viewer and the end of the session, nothing else', async () => {
    const person = await world.member()
    const me = encodeId('User', person.userId)
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [person.userId])
    const forbidden = [{ extensions: { code: 'FORBIDDEN' } }]

    expect(await person.run('{ viewer { standing org { slug } user { id } } }')).toEqual({
      viewer: { standing: null, org: null, user: { id: me } },
    })
    expect((await person.send('{ org { slug } }')).errors).toMatchObject(forbidden)
    expect((await person.attempt('viewerUpdate', { displayName: 'Ann' })).errors).toMatchObject(forbidden)
    expect((await person.attempt('sessionEndAll', {})).errors).toMatchObject(forbidden)
    const ids = [encodeId('Org', world.org.id), world.owner.id, me]
    expect(await person.run('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids })).toEqual({
      nodes: [null, null, { id: me }],
    })
    expect(await person.run('mutation { sessionEnd { __typename } }')).toEqual({
      sessionEnd: { __typename: 'SessionEndPayload' },
    })
    expect(await holds(person)).toBe(false)
  })

  it('ID-4 gives an embedded session of an owner participant power', async () => {
    const embedded = await world.embedded()
    expect(await embedded.run('{ viewer { standing orgs { slug } } }')).toEqual({
      viewer: { standing: 'PARTICIPANT', orgs: [] },
    })
  })
})

describe('the life of a session', () => {
  it('ID-15 ends 30 days after it began, to the second, whatever its use', async () => {
    const person = await world.member()
    await age(person, { created: 30 * DAY - 2, seen: 0 })
    expect(await holds(person)).toBe(true)
    await age(person, { created: 30 * DAY, seen: 0 })
    expect(await holds(person)).toBe(false)
  })

  it('ID-15 ends when it was idle for 14 days, to the second', async () => {
    const person = await world.member()
    await age(person, { created: 15 * DAY, seen: 14 * DAY - 2 })
    expect(await holds(person)).toBe(true)
    await age(person, { seen: 14 * DAY })
    expect(await holds(person)).toBe(false)
  })

  it('ID-15 ends at its fixed end, to the second', async () => {
    const embedded = await world.embedded()
    const end = (seconds: number) =>
      world.sql(`UPDATE identity.sessions SET expires_at = now() + $2 * interval '1 s' WHERE id = $1`, [
        embedded.sessionId,
        seconds,
      ])
    await end(2)
    expect(await holds(embedded)).toBe(true)
    await end(0)
    expect(await holds(embedded)).toBe(false)
  })

  it.each([
    ['revoked', `UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'admin' WHERE user_id = $1`],
    ['of a disabled person', `UPDATE identity.users SET status = 'disabled' WHERE id = $1`],
  ])('ID-15 holds no longer once %s', async (_, change) => {
    const person = await world.member()
    expect(await holds(person)).toBe(true)
    await world.sql(change, [person.userId])
    expect(await holds(person)).toBe(false)
  })

  it('ID-15 holds in an archived org and in no org that is being purged', async () => {
    const owner = await world.otherOrg()
    const set = (columns: string) => world.sql(`UPDATE identity.orgs SET ${columns} WHERE id = $1`, [owner.orgId])
    await set(`status = 'archived', archived_at = now()`)
    expect(await holds(owner)).toBe(true)
    await set(`status = 'purging'`)
    expect(await holds(owner)).toBe(false)
  })
})

describe('having been seen', () => {
  it('ID-16 moves once a minute at most', async () => {
    const person = await world.member()
    const caller = await callerFor(person)
    expect(await touchSession(caller)).toBeNull()
    await age(person, { seen: 59 })
    expect(await touchSession(caller)).toBeNull()
    expect(await seenSecondsAgo(person)).toBeGreaterThan(58)
    await age(person, { seen: 61 })
    const endsAt = await touchSession(caller)
    expect(await seenSecondsAgo(person)).toBeLessThan(10)
    expect(Math.abs(endsAt!.getTime() - Date.now() - 14 * DAY * 1000)).toBeLessThan(10_000)
  })

  it('ID-16 moves with a mutation', async () => {
    const person = await world.member()
    await age(person, { seen: 3600 })
    await person.mutate('viewerUpdate', {})
    await expect.poll(() => seenSecondsAgo(person)).toBeLessThan(60)
  })

  it('ID-16 never moves on a query', async () => {
    const person = await world.member()
    await age(person, { seen: 3600 })
    expect(await holds(person)).toBe(true)
    expect(await seenSecondsAgo(person)).toBeGreaterThan(3500)
  })

  it('ID-15 revives no session that has ended', async () => {
    const [idle, revoked] = [await world.member(), await world.member()]
    const callers = [await callerFor(idle), await callerFor(revoked)] as const
    await age(idle, { created: 15 * DAY, seen: 14 * DAY + 1 })
    await age(revoked, { seen: 3600 })
    await world.sql(`UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user' WHERE id = $1`, [
      revoked.sessionId,
    ])
    for (const caller of callers) expect(await touchSession(caller)).toBeNull()
    expect(await holds(idle)).toBe(false)
  })
})

describe('ending sessions', () => {
  it('ID-18 signs out for good, records it once, and clears the cookies it came with', async () => {
    const input = { orgSlug: world.org.slug, displayName: 'Ann' }
    const signedIn = await world.app.client().post(CREATE_ANONYMOUS, { input }, { 'x-forwarded-for': newAddress() })
    const { csrfToken, session } = (await signedIn.json()).data.sessionCreateAnonymous
    const cookie = signedIn.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    const end = 'mutation { sessionEnd { ... on SessionEndPayload { viewer { user { id } session { id } } } } }'
    const response = await world.app.client().post(end, {}, { cookie, 'x-moothall-csrf': csrfToken })

    expect(await response.json()).toMatchObject({ data: { sessionEnd: { viewer: { user: null, session: null } } } })
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^moothall=; .*Max-Age=0/),
      expect.stringMatching(/^moothall_csrf=; .*Max-Age=0/),
    ])
    const again = await world.app.client().post(VIEWER, {}, { cookie, 'x-moothall-csrf': csrfToken })
    expect(await again.json()).toMatchObject({ errors: unauthenticated })
    // Another tab still has the cookies: they go, or the browser could not sign in again.
    expect(again.headers.getSetCookie()).toEqual(response.headers.getSetCookie())
    const [row] = await world.sql<{ id: string }>(
      `SELECT id FROM identity.sessions WHERE csrf_hash = sha256($1::bytea) AND revoke_reason = 'logout'`,
      [Buffer.from(csrfToken)],
    )
    expect(encodeId('Session', row!.id)).toBe(session.id)
    expect((await factsAbout(world, row!.id)).map(({ type }) => type)).toEqual(['session.created', 'session.ended'])
  })

  it('ID-18 leaves the cookies of a browser alone when a bearer signs out beside them', async () => {
    const person = await world.member()
    const response = await person.client.post('mutation { sessionEnd { __typename } }')
    expect(response.headers.getSetCookie()).toEqual([])
    expect(await sessionRow(person)).toEqual({ revoked: true, revoke_reason: 'logout' })
  })

  it('ID-18 succeeds for nobody, and a second time in one document, which goes on as nobody', async () => {
    expect((await asNobody(world, 'mutation { sessionEnd { __typename } }', {})).data).toEqual({
      sessionEnd: { __typename: 'SessionEndPayload' },
    })
    const person = await world.member()
    const { data, errors } = await person.send(`mutation {
      first: sessionEnd { __typename }
      second: sessionEnd { __typename }
      third: viewerUpdate(input: { displayName: "Ghost" }) { __typename }
    }`)
    expect(data).toEqual({
      first: { __typename: 'SessionEndPayload' },
      second: { __typename: 'SessionEndPayload' },
      third: null,
    })
    expect(errors).toMatchObject([{ path: ['third'], extensions: { code: 'UNAUTHENTICATED' } }])
    expect((await factsAbout(world, person.sessionId)).map(({ type }) => type)).toEqual(['session.ended'])
  })

  it('ID-18 revokes one of one’s own, idempotently', async () => {
    const person = await world.member()
    const elsewhere = await world.embedded(person)
    const id = encodeId('Session', elsewhere.sessionId)
    for (let time = 0; time < 2; time++) {
      expect(await person.mutate('sessionRevoke', { id }, 'session { id revokeReason isCurrent }')).toMatchObject({
        session: { id, revokeReason: 'USER', isCurrent: false },
      })
    }
    expect(await holds(elsewhere)).toBe(false)
    expect(await holds(person)).toBe(true)
    expect(await factsAbout(world, elsewhere.sessionId)).toMatchObject([
      { type: 'session.revoked', actorUserId: person.userId, payload: { userId: person.userId, reason: 'user' } },
    ])
  })

  it('ID-18 goes on as nobody after revoking the current one', async () => {
    const person = await world.member()
    const id = encodeId('Session', person.sessionId)
    const { data } = await person.send(
      `mutation ($id: ID!) {
      sessionRevoke(input: { id: $id }) { ... on SessionRevokePayload { session { id } } }
      sessionEnd { ... on SessionEndPayload { viewer { user { id } } } }
    }`,
      { id },
    )
    expect(data).toEqual({ sessionRevoke: { session: null }, sessionEnd: { viewer: { user: null } } })
  })

  it('ID-18 lets admins end what is active in their org, of whomever', async () => {
    const [admin, member] = [await world.member({ role: 'admin' }), await world.member()]
    const id = encodeId('Session', member.sessionId)
    expect(
      await admin.mutate('sessionRevoke', { id }, 'session { revokeReason ip userAgent user { id } }'),
    ).toMatchObject({
      session: { revokeReason: 'ADMIN', ip: null, userAgent: null, user: { id: member.id } },
    })
    expect(await holds(member)).toBe(false)
  })

  it('ID-18 answers for sessions out of reach as for none', async () => {
    const [admin, member] = [await world.member({ role: 'admin' }), await world.member()]
    const [foreign, embedded, another] = [await world.otherOrg(), await world.embedded(member), await world.member()]
    const revoke = (actor: Actor, sessionId: string) =>
      actor.mutate('sessionRevoke', { id: encodeId('Session', sessionId) })
    const absent = await revoke(admin, newId())

    expect(absent).toMatchObject({ __typename: 'NotFoundError', path: ['input', 'id'] })
    expect(await revoke(admin, foreign.sessionId)).toEqual(absent)
    expect(await revoke(member, another.sessionId)).toEqual(absent)
    expect(await revoke(embedded, member.sessionId)).toEqual(absent)
    for (const actor of [member, foreign, another]) expect(await holds(actor)).toBe(true)
    const seen = (actor: Actor, { sessionId }: Actor) =>
      actor.run('query ($id: ID!) { node(id: $id) { id } }', { id: encodeId('Session', sessionId) })
    expect(await seen(admin, member)).not.toEqual({ node: null })
    for (const [actor, other] of [
      [admin, foreign],
      [member, another],
      [embedded, member],
    ] as const) {
      expect(await seen(actor, other)).toEqual({ node: null })
    }
  })

  it('ID-18 ends all of one’s own in every org, the current one spared when asked', async () => {
    const person = await world.member()
    const { orgId } = await world.otherOrg()
    await world.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'member', 'me2', now())`,
      [orgId, person.userId],
    )
    const add = () =>
      world.sql(
        `INSERT INTO identity.sessions (org_id, user_id, token_hash, method) VALUES ($1, $2, sha256($3::bytea), 'password')`,
        [orgId, person.userId, Buffer.from(newId())],
      )
    await add()
    await world.embedded(person)
    const bystander = await world.member()

    expect(await person.mutate('sessionEndAll', { exceptCurrent: true }, 'ended')).toMatchObject({ ended: 2 })
    expect(await person.mutate('sessionEndAll', { exceptCurrent: true }, 'ended')).toMatchObject({ ended: 0 })
    expect(await holds(person)).toBe(true)
    await add()
    expect(await person.mutate('sessionEndAll', {}, 'ended')).toMatchObject({ ended: 2 })
    expect(await holds(person)).toBe(false)
    expect(await holds(bystander)).toBe(true)
    const facts = await world.sql(
      `SELECT payload FROM platform.audit_events WHERE event_type = 'session.revoked' AND actor_user_id = $1`,
      [person.userId],
    )
    expect(facts).toEqual(Array(4).fill({ payload: { userId: person.userId, reason: 'user' } }))
  })

  it('ID-4 lets an embedded session end itself and no more', async () => {
    const embedded = await world.embedded()
    expect(await embedded.mutate('sessionEndAll', {})).toMatchObject({ __typename: 'ForbiddenError' })
    expect(await embedded.run('{ viewer { sessions { nodes { id } } } }')).toEqual({
      viewer: { sessions: { nodes: [{ id: encodeId('Session', embedded.sessionId) }] } },
    })
    expect(await world.owner.run(VIEWER)).toEqual({ viewer: { standing: 'OWNER' } })
    await embedded.run('mutation { sessionEnd { __typename } }')
    expect(await holds(embedded)).toBe(false)
  })

  it('PLAT-59 takes no null and no other type for whether the current one is spared, and ends nothing', async () => {
    const person = await world.member()
    expect(await person.mutate('sessionEndAll', { exceptCurrent: null })).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: ['input', 'exceptCurrent'] }],
    })
    for (const input of [{ exceptCurrent: 'yes' }, { all: true }]) {
      expect((await person.attempt('sessionEndAll', input)).errors?.[0]?.extensions.code).toBe('BAD_REQUEST')
    }
    expect(await holds(person)).toBe(true)
  })

  it.each([
    ['another type', (actor: Actor) => actor.id],
    ['a bare UUID', (actor: Actor) => actor.sessionId],
    ['garbage', () => 'ses_'],
    ['nothing', () => ''],
  ])('PLAT-58 refuses %s in place of a session’s id', async (_, idOf) => {
    const person = await world.member()
    expect(await person.mutate('sessionRevoke', { id: idOf(person) })).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: ['input', 'id'] }],
    })
  })
})

describe('looking again at sessions', () => {
  it('PLAT-33 says in one read which hold and how far they reach', async () => {
    const { room } = await world.pokerRoom()
    const [member, viewer, left, disabled, revoked, idle, anonymous, embedded, guest] = [
      await world.member(),
      await world.viewer(),
      await world.member(),
      await world.member(),
      await world.member(),
      await world.member(),
      await world.anonymous(),
      await world.embedded(),
      await world.guest(room),
    ]
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [left.userId])
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled.userId])
    await world.sql(`UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user' WHERE id = $1`, [
      revoked.sessionId,
    ])
    await age(idle, { created: 20 * DAY, seen: 14 * DAY })
    const asked = { member, viewer, left, disabled, revoked, idle, anonymous, embedded, guest }

    const held = await recheckSessions([...Object.values(asked).map(({ sessionId }) => sessionId), newId()])
    const standings = Object.entries(asked).map(([name, { sessionId }]) => [name, held.get(sessionId)?.caller.standing])
    expect(Object.fromEntries(standings)).toEqual({
      member: 'MEMBER',
      viewer: 'VIEWER',
      left: null,
      disabled: undefined,
      revoked: undefined,
      idle: undefined,
      anonymous: 'PARTICIPANT',
      embedded: 'PARTICIPANT',
      guest: 'GUEST',
    })
    expect(held.get(guest.sessionId)?.caller).toMatchObject({
      roomId: room.uuid,
      account: 'guest',
      orgId: world.org.id,
    })
    expect(held.get(embedded.sessionId)?.endsAt?.getTime()).toBeLessThan(Date.now() + 12 * 3600 * 1000 + 5000)
    expect(await recheckSessions([])).toEqual(new Map())
  })

  it('ID-2 gives an event of a stream its caller as they stand at that moment', async () => {
    const person = await world.member()
    const caller = await callerFor(person)
    await world.sql(`UPDATE identity.memberships SET role = 'viewer' WHERE user_id = $1`, [person.userId])
    expect(await refreshCaller(caller)).toEqual({ ...caller, standing: 'VIEWER' })
    await person.run('mutation { sessionEnd { __typename } }')
    expect(await refreshCaller(caller)).toBeNull()
  })
})
