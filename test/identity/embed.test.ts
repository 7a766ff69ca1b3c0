import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { pruneSessions } from '../../src/identity/sweeps.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { createWorld, type World } from '../support/world.ts'
import { asNobody, factsAbout, newAddress } from './identity-app.ts'

const PROVIDER = 'meetings'
const HOUR = 60 * 60 * 1000

let world: World

beforeAll(async () => {
  world = await createWorld(
    await startApp({
      MOOTHALL_TRUST_PROXY: '1',
      MOOTHALL_EMBED_PROVIDERS: 'other, meetings',
      MOOTHALL_LOG_LEVEL: 'trace',
    }),
  )
})
afterAll(() => world?.close())

const ERRORS =
  '... on Error { code message } ... on InvalidInputError { issues { path message } } ... on NotFoundError { path }'
const START = `mutation ($input: EmbedHandoffStartInput!) { embedHandoffStart(input: $input) { __typename
  ... on EmbedHandoffStartPayload { displayCode expiresAt } ${ERRORS} } }`
const REDEEM = `mutation ($input: EmbedHandoffRedeemInput!) { embedHandoffRedeem(input: $input) { __typename
  ... on EmbedHandoffRedeemPayload { token session { id method embedded isCurrent createdAt expiresAt user { id } } }
  ... on EmbedPending { expiresAt } ${ERRORS} } }`

/** What a frame keeps, and what it shows of it. */
type Frame = { verifier: string; challenge: string; hash: Buffer; displayCode: string; address: string }

function newFrame(): Omit<Frame, 'displayCode' | 'address'> {
  const verifier = randomBytes(32)
  const hash = createHash('sha256').update(verifier).digest()
  return { verifier: verifier.toString('base64url'), challenge: hash.toString('base64url'), hash }
}

const start = (input: object, address = newAddress()): Promise<Answer> => asNobody(world, START, { input }, address)
const startWith = (challenge: string, address?: string) => start({ challenge, provider: PROVIDER }, address)

async function startedFrame(address = newAddress()): Promise<Frame> {
  const frame = newFrame()
  const { data } = await startWith(frame.challenge, address)
  return { ...frame, displayCode: data.embedHandoffStart.displayCode, address }
}

const bind = (person: Actor, { challenge, displayCode }: Frame, code = displayCode) =>
  person.mutate('embedHandoffBind', { challenge, code }, 'viewer { user { id } org { slug } }')

// biome-ignore lint/suspicious/noExplicitAny: the selection is text
async function redeem({ verifier }: Pick<Frame, 'verifier'>): Promise<any> {
  return (await asNobody(world, REDEEM, { input: { verifier } })).data.embedHandoffRedeem
}

/** A code that is not the frame's. */
const wrong = ({ displayCode }: Frame) => (displayCode === '222222' ? '333333' : '222222')

/** Moves a hand-off into the past so that it ends so many seconds from now. */
const endsIn = ({ hash }: Frame, seconds: number) =>
  world.sql(
    `UPDATE identity.embed_handoffs SET created_at = created_at - (expires_at - now()) + $2 * interval '1 s',
       expires_at = now() + $2 * interval '1 s' WHERE challenge_hash = $1`,
    [hash, seconds],
  )
const rowOf = async ({ hash }: Pick<Frame, 'hash'>) =>
  (await world.sql('SELECT * FROM identity.embed_handoffs WHERE challenge_hash = $1', [hash]))[0]
const sessionsOf = (person: Actor, method = 'embed') =>
  world.sql('SELECT id FROM identity.sessions WHERE user_id = $1 AND method = $2', [person.userId, method])
const absent = (path: string) => ({ __typename: 'NotFoundError', path: ['input', path] })

describe('beginning a hand-off', () => {
  it('ID-30 gives six readable characters that live for five minutes', async () => {
    const frame = newFrame()
    const { data } = await startWith(frame.challenge)
    expect(data.embedHandoffStart).toEqual({
      __typename: 'EmbedHandoffStartPayload',
      displayCode: expect.stringMatching(/^[23456789ABCDEFGHJKMNPQRSTVWXYZ]{6}$/),
      expiresAt: expect.any(String),
    })
    const left = Date.parse(data.embedHandoffStart.expiresAt) - Date.now()
    expect(Math.abs(left - 5 * 60_000)).toBeLessThan(10_000)
  })

  it('ID-30, PLAT-82 keeps neither verifier nor address', async () => {
    const frame = await startedFrame('192.0.2.77')
    const row = await rowOf(frame)
    const kept = JSON.stringify(row)
    expect(kept).not.toContain('192.0.2.77')
    expect(kept).not.toContain(frame.verifier)
    expect(row!.client_key).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(row!.client_key).not.toBe(createHash('sha256').update('192.0.2.77').digest('base64url'))
  })

  it.each([
    ['nothing', () => ''],
    ['31 bytes', () => randomBytes(31).toString('base64url')],
    ['33 bytes', () => randomBytes(33).toString('base64url')],
    ['padding', () => `${randomBytes(32).toString('base64url')}=`],
    ['hexadecimals', () => randomBytes(32).toString('hex')],
    ['another alphabet', () => `+/${randomBytes(32).toString('base64url').slice(2)}`],
    ['a second spelling of the same bytes', () => `${Buffer.alloc(32, 1).toString('base64url').slice(0, 42)}F`],
    ['white space', () => ` ${randomBytes(32).toString('base64url').slice(1)}`],
  ])('ID-30, 32 takes no %s for a challenge or a verifier', async (_, text) => {
    const refused = (path: string) => ({
      __typename: 'InvalidInputError',
      issues: [{ path: ['input', path], message: expect.any(String) }],
    })
    expect((await startWith(text())).data.embedHandoffStart).toMatchObject(refused('challenge'))
    expect(await redeem({ verifier: text() })).toMatchObject(refused('verifier'))
    const person = await world.member()
    expect(await person.mutate('embedHandoffBind', { challenge: text(), code: '222222' })).toMatchObject(
      refused('challenge'),
    )
  })

  it('ID-30 refuses a provider that the operator has not named, to the letter', async () => {
    for (const provider of ['elsewhere', 'Meetings', 'meeting', 'other, meetings']) {
      const { data } = await start({ challenge: newFrame().challenge, provider })
      expect(data.embedHandoffStart).toMatchObject({
        __typename: 'InvalidInputError',
        issues: [{ path: ['input', 'provider'] }],
      })
    }
    expect((await start({ challenge: newFrame().challenge, provider: 'other' })).data.embedHandoffStart.code).toBe(
      undefined,
    )
  })

  it('ID-30 gives nobody the code of a challenge that is there already', async () => {
    const frame = await startedFrame()
    const again = (await startWith(frame.challenge)).data.embedHandoffStart
    expect(again).toEqual({ __typename: 'ConflictError', code: 'CONFLICT', message: expect.any(String) })
    expect((await rowOf(frame))!.display_code).toBe(frame.displayCode)
  })

  it('ID-30 lets one client have ten open, however many begin at once, and the next once one is over or used', async () => {
    const address = newAddress()
    const answers = await Promise.all(Array.from({ length: 16 }, () => startWith(newFrame().challenge, address)))
    const began = answers.filter(({ data }) => data?.embedHandoffStart?.displayCode)
    expect(began).toHaveLength(10)
    for (const { data, errors } of answers.filter((answer) => !began.includes(answer))) {
      expect(data).toEqual({ embedHandoffStart: null })
      expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    }
    // The same household, by its /64; another one is free.
    expect((await startWith(newFrame().challenge, address.replace('::1', '::2'))).errors).toBeDefined()
    expect((await startWith(newFrame().challenge)).errors).toBeUndefined()

    const key = `(SELECT client_key FROM identity.embed_handoffs GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)`
    await world.sql(
      `UPDATE identity.embed_handoffs SET created_at = created_at - interval '6 min', expires_at = expires_at - interval '6 min'
       WHERE challenge_hash = (SELECT challenge_hash FROM identity.embed_handoffs WHERE client_key = ${key} LIMIT 1)`,
    )
    const frame = await startedFrame(address)
    expect((await startWith(newFrame().challenge, address)).errors).toBeDefined()
    await bind(await world.member(), frame)
    expect((await startWith(newFrame().challenge, address)).errors).toBeDefined()
    await redeem(frame)
    expect((await startWith(newFrame().challenge, address)).errors).toBeUndefined()
  })

  it('PLAT-69 lets one address begin thirty in ten minutes, ten aliases counting ten', async () => {
    const address = newAddress()
    const ten = `mutation { ${Array.from(
      { length: 10 },
      (_, at) =>
        `m${at}: embedHandoffStart(input: { challenge: "${newFrame().challenge}", provider: "${PROVIDER}" }) { __typename }`,
    ).join(' ')} }`
    const over = () =>
      world.sql(
        `UPDATE identity.embed_handoffs SET created_at = created_at - interval '6 min', expires_at = expires_at - interval '6 min'`,
      )
    for (let round = 0; round < 3; round++) {
      const document = ten.replaceAll(/"[A-Za-z0-9_-]{43}"/g, () => `"${newFrame().challenge}"`)
      expect((await asNobody(world, document, {}, address)).errors).toBeUndefined()
      await over()
    }
    expect((await startWith(newFrame().challenge, address)).errors).toMatchObject([
      { extensions: { code: 'RATE_LIMITED' } },
    ])
  })
})

describe('binding a hand-off', () => {
  it('ID-31 lets the frame become whoever knows its code, in the org that is active, once', async () => {
    const [person, frame] = [await world.viewer(), await startedFrame()]
    expect(await bind(person, frame, frame.displayCode.toLowerCase())).toMatchObject({
      __typename: 'EmbedHandoffBindPayload',
      viewer: { user: { id: person.id }, org: { slug: world.org.slug } },
    })
    expect(await rowOf(frame)).toMatchObject({ user_id: person.userId, org_id: world.org.id, failed_binds: 0 })
  })

  it('ID-31 counts wrong codes and is over with the fifth', async () => {
    const [person, frame] = [await world.member(), await startedFrame()]
    for (let miss = 1; miss <= 5; miss++) {
      expect(await bind(person, frame, miss === 3 ? 'no code at all' : wrong(frame))).toMatchObject({
        __typename: 'InvalidInputError',
        issues: [{ path: ['input', 'code'] }],
      })
      expect((await rowOf(frame))!.failed_binds).toBe(miss)
    }
    expect(await bind(person, frame)).toMatchObject(absent('challenge'))
    expect(await redeem(frame)).toMatchObject(absent('verifier'))
  })

  it('ID-31 still takes the right code after four wrong ones', async () => {
    const [person, frame] = [await world.member(), await startedFrame()]
    for (let miss = 1; miss <= 4; miss++) await bind(person, frame, wrong(frame))
    expect((await bind(person, frame)).__typename).toBe('EmbedHandoffBindPayload')
  })

  it('ID-31 counts every one of many wrong codes at once', async () => {
    const [person, frame] = [await world.member(), await startedFrame()]
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => bind(person, frame, wrong(frame))))
    const codes = outcomes.map(({ code }) => code)
    expect(codes.filter((code) => code === 'INVALID_INPUT')).toHaveLength(5)
    expect(codes.filter((code) => code === 'NOT_FOUND')).toHaveLength(7)
  })

  it('ID-31 is a conflict once bound, whoever asks and with whatever code', async () => {
    const [person, another, foreign] = [await world.member(), await world.member(), await world.otherOrg()]
    const frame = await startedFrame()
    const outcomes = await Promise.all([bind(person, frame), bind(another, frame), bind(foreign, frame)])
    expect(outcomes.filter(({ code }) => code === undefined)).toHaveLength(1)
    expect(outcomes.filter(({ code }) => code === 'CONFLICT')).toHaveLength(2)
    const bound = await rowOf(frame)
    for (const asking of [person, another, foreign]) {
      for (const code of [frame.displayCode, wrong(frame)]) {
        expect(await bind(asking, frame, code)).toMatchObject({ __typename: 'ConflictError' })
      }
    }
    expect(await rowOf(frame)).toEqual(bound)
    await redeem(frame)
    expect(await bind(another, frame)).toMatchObject({ __typename: 'ConflictError' })
  })

  it('ID-31 is for registered people with standing, outside meeting clients', async () => {
    const { room } = await world.pokerRoom()
    const frame = await startedFrame()
    const former = await world.member()
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [former.userId])

    for (const person of [await world.guest(room), await world.embedded(), await world.anonymous()]) {
      expect(await bind(person, frame)).toMatchObject({ __typename: 'ForbiddenError' })
    }
    const input = { challenge: frame.challenge, code: frame.displayCode }
    const document = 'mutation ($input: EmbedHandoffBindInput!) { embedHandoffBind(input: $input) { __typename } }'
    expect((await former.send(document, { input })).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
    expect((await asNobody(world, document, { input })).errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED' } },
    ])
    expect(await rowOf(frame)).toMatchObject({ bound_at: null, failed_binds: 0 })
  })

  it('ID-31, 38 waits for a revocation that is under way, and binds nothing', async () => {
    const [person, frame] = [await world.member(), await startedFrame()]
    const held = await world.hold('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [
      person.userId,
    ])
    const bound = bind(person, frame)
    await world.untilBlocked()
    await held.release()
    expect(await bound).toMatchObject({ __typename: 'ForbiddenError' })
    expect(await rowOf(frame)).toMatchObject({ bound_at: null, failed_binds: 0 })
  })

  it('ID-31 finds nothing under a challenge that nobody began', async () => {
    const person = await world.member()
    const frame = { ...newFrame(), displayCode: '222222', address: '' }
    expect(await bind(person, frame)).toMatchObject(absent('challenge'))
  })
})

describe('redeeming a hand-off', () => {
  it('ID-32 waits until it is bound, then makes one session of 12 hours that is told of once', async () => {
    const [person, frame] = [await world.member({ role: 'owner' }), await startedFrame()]
    expect(await redeem(frame)).toEqual({ __typename: 'EmbedPending', expiresAt: expect.any(String) })
    expect(await redeem(frame)).toMatchObject({ __typename: 'EmbedPending' })
    await bind(person, frame)

    const { token, session } = await redeem(frame)
    expect(token).toMatch(/^mhs_[A-Za-z0-9_-]{43}$/)
    expect(session).toMatchObject({ method: 'EMBED', embedded: true, isCurrent: true, user: { id: person.id } })
    expect(Date.parse(session.expiresAt) - Date.parse(session.createdAt)).toBe(12 * HOUR)
    expect(await redeem(frame)).toMatchObject(absent('verifier'))
    expect(await sessionsOf(person)).toHaveLength(1)

    const [row] = await sessionsOf(person)
    expect(await factsAbout(world, String(row!.id))).toMatchObject([
      { type: 'session.created', actorUserId: person.userId, payload: { method: 'embed' } },
    ])
    expect(await world.app.client(token).run('{ viewer { standing session { id } } }')).toEqual({
      viewer: { standing: 'PARTICIPANT', session: { id: encodeId('Session', String(row!.id)) } },
    })
  })

  it('ID-32 is in the org that was active when it was bound', async () => {
    const [foreign, frame] = [await world.otherOrg(), await startedFrame()]
    await bind(foreign, frame)
    const { token } = await redeem(frame)
    const [row] = await world.sql('SELECT org_id FROM identity.sessions WHERE user_id = $1 AND embedded', [
      foreign.userId,
    ])
    expect(row).toEqual({ org_id: foreign.orgId })
    const { id } = foreign.space
    const seen = await world.app.client(token).run('query ($id: ID!) { node(id: $id) { id } }', { id })
    expect(seen).toEqual({ node: { id } })
    const home = await world.app.client(token).run('query ($id: ID!) { node(id: $id) { id } }', { id: world.home.id })
    expect(home).toEqual({ node: null })
  })

  it('ID-32 makes one session when many redeem at once', async () => {
    const [person, frame] = [await world.member(), await startedFrame()]
    await bind(person, frame)
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => redeem(frame)))
    expect(outcomes.filter(({ token }) => token)).toHaveLength(1)
    expect(outcomes.filter(({ code }) => code === 'NOT_FOUND')).toHaveLength(9)
    expect(await sessionsOf(person)).toHaveLength(1)
  })

  it('ID-30, 32 is over to the second, bound or not', async () => {
    const [person, bound, open] = [await world.member(), await startedFrame(), await startedFrame()]
    await bind(person, bound)
    await endsIn(open, 3)
    expect(await redeem(open)).toMatchObject({ __typename: 'EmbedPending' })
    await Promise.all([endsIn(bound, 0), endsIn(open, 0)])
    expect(await redeem(open)).toMatchObject(absent('verifier'))
    expect(await redeem(bound)).toMatchObject(absent('verifier'))
    expect(await bind(person, open)).toMatchObject(absent('challenge'))
    expect(await bind(person, bound)).toMatchObject(absent('challenge'))
    expect(await sessionsOf(person)).toEqual([])
  })

  it.each([
    ['was disabled', `UPDATE identity.users SET status = 'disabled' WHERE id = $1`],
    ['has left the org', 'UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1'],
  ])('ID-29, 32 makes no session of somebody who %s since', async (_, change) => {
    const [person, frame] = [await world.member(), await startedFrame()]
    await bind(person, frame)
    await world.sql(change, [person.userId])
    expect(await redeem(frame)).toMatchObject(absent('verifier'))
    expect(await sessionsOf(person)).toEqual([])
  })

  it.each([
    ['all of theirs', (person: Actor) => person.mutate('sessionEndAll', {})],
    [
      'the one that bound it',
      async (person: Actor) => {
        const id = encodeId('Session', person.sessionId)
        return (await world.signIn(person)).mutate('sessionRevoke', { id })
      },
    ],
  ])('ID-18, 32 makes no session for whoever ends %s after it was bound', async (_, end) => {
    const [person, frame] = [await world.member(), await startedFrame()]
    expect(await bind(person, frame)).toMatchObject({ __typename: 'EmbedHandoffBindPayload' })
    expect((await end(person)).code).toBeUndefined()
    expect(await redeem(frame)).toMatchObject(absent('verifier'))
    expect(await sessionsOf(person)).toEqual([])
  })

  it('ID-32 makes no session in an org that is being purged', async () => {
    const [foreign, frame] = [await world.otherOrg(), await startedFrame()]
    await bind(foreign, frame)
    await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [foreign.orgId])
    await world.sql(`UPDATE identity.orgs SET status = 'purging' WHERE id = $1`, [foreign.orgId])
    expect(await redeem(frame)).toMatchObject(absent('verifier'))
    expect(await sessionsOf(foreign)).toEqual([])
  })

  it('ID-32 is not extended by its use and ends to the second', async () => {
    const [person, frame] = [await world.member(), await startedFrame()]
    await bind(person, frame)
    const { token, session } = await redeem(frame)
    const client = world.app.client(token)
    const [{ id } = { id: '' }] = await world.sql<{ id: string }>(
      `UPDATE identity.sessions SET last_seen_at = now() - interval '1 hour' WHERE user_id = $1 AND embedded RETURNING id`,
      [person.userId],
    )
    await client.run('mutation { viewerUpdate(input: { avatarIcon: "owl" }) { __typename } }')
    const seen = async () =>
      (
        await world.sql(
          `SELECT now() - last_seen_at < interval '1 min' AS recent FROM identity.sessions WHERE id = $1`,
          [id],
        )
      )[0]
    await expect.poll(seen).toEqual({ recent: true })
    expect(await client.run('{ viewer { session { expiresAt } } }')).toEqual({
      viewer: { session: { expiresAt: session.expiresAt } },
    })
    await world.sql('UPDATE identity.sessions SET expires_at = clock_timestamp() WHERE id = $1', [id])
    expect((await client.send('{ viewer { standing } }')).errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED' } },
    ])
  })

  it('ID-19 ends the least recently seen of fifty sessions for it', async () => {
    const [person, frame] = [await world.member(), await startedFrame()]
    await world.sql(
      `INSERT INTO identity.sessions (org_id, user_id, token_hash, method, last_seen_at)
       SELECT $1, $2, sha256(random()::text::bytea), 'password', now() - at * interval '1 min'
       FROM generate_series(1, 49) AS at`,
      [person.orgId, person.userId],
    )
    await bind(person, frame)
    await redeem(frame)
    const ended = await world.sql(
      `SELECT revoke_reason, last_seen_at < now() - interval '48 min' AS oldest FROM identity.sessions
       WHERE user_id = $1 AND revoked_at IS NOT NULL`,
      [person.userId],
    )
    expect(ended).toEqual([{ revoke_reason: 'limit', oldest: true }])
  })
})

it('PLAT-23 no verifier, challenge, code or token of a hand-off is logged', async () => {
  const [person, frame] = [await world.member(), await startedFrame()]
  await bind(person, frame, wrong(frame))
  await bind(person, frame)
  const { token } = await redeem(frame)
  await redeem(frame)
  for (const secret of [frame.verifier, frame.challenge, frame.displayCode, token, frame.address]) {
    expect(world.app.log()).not.toContain(secret)
  }
})

it('PLAT-82 sweeps hand-offs as soon as they are over', async () => {
  const [over, open] = [await startedFrame(), await startedFrame()]
  await endsIn(over, 0)
  await pruneSessions()
  expect(await rowOf(over)).toBeUndefined()
  expect(await rowOf(open)).toMatchObject({ display_code: open.displayCode })
})

it('ID-4 an embedded session of an owner reaches rooms alone', async () => {
  const [owner, frame] = [world.owner, await startedFrame()]
  await bind(owner, frame)
  const client = world.app.client((await redeem(frame)).token)
  const { __schema } = await owner.run('{ __schema { queryType { fields { name } } } }')
  const has = (name: string) => __schema.queryType.fields.some((field: { name: string }) => field.name === name)

  const lists = ['members', 'agents', 'apiKeys', 'orgSessions', 'auditEvents', 'activity', 'toolInvocations']
  for (const name of lists.filter(has)) {
    const { errors } = await client.send(`{ ${name} { nodes { __typename } } }`)
    expect(errors, name).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
  }
  expect(lists.filter(has)).toContain('auditEvents')
  const spaces = await client.run('query ($id: ID!) { node(id: $id) { id } }', { id: world.home.id })
  expect(spaces).toEqual({ node: { id: world.home.id } })
  const stranger = await world.member({ space: null })
  expect(await client.run('query ($id: ID!) { node(id: $id) { id } }', { id: stranger.id })).toEqual({ node: null })
})
