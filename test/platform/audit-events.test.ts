import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { operation } from '../../src/db/operation.ts'
import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import { defineEvent, type Facts, nodeId, record } from '../../src/platform/index.ts'
import { type App, startApp } from '../support/app.ts'
import type { GraphqlClient } from '../support/client.ts'
import { connect, makeOrg, type Org, signIn } from './audit-world.ts'

const lit = defineEvent('lamp.lit', {
  category: 'activity',
  payload: z.strictObject({ watts: z.number(), words: z.string().optional() }),
  projection: async ({ payload }, form, rows) => {
    const [name, gone] = await Promise.all([rows.row(orgNames, org.id), rows.row(orgNames, newId())])
    return { watts: payload.watts, form, org: name, gone }
  },
})
const dimmed = defineEvent('lamp.dimmed', { category: 'audit_only', payload: z.strictObject({}) })
const doused = defineEvent('fire.doused', { category: 'audit_only', payload: z.strictObject({}) })
const carried = defineEvent('lamp.carried', {
  category: 'activity',
  payload: z.strictObject({
    by: nodeId('User'),
    before: nodeId('User').nullable(),
    stops: z.array(z.strictObject({ room: nodeId('Room') })),
    note: z.string(),
  }),
  projection: ({ payload: { note: _, ...shown } }) => ({ ...shown, own: encodeId('Org', org.id) }),
})

let reads = 0
const orgNames = async (orgId: string, ids: readonly string[]) => {
  reads += 1
  return new Map(ids.filter((id) => id === orgId).map((id) => [id, 'acme']))
}

let app: App
let owner: pg.Client
let org: Org
let admin: GraphqlClient
const spaceId = newId()
const roomId = newId()
const requestId = newId()

const write = <T>(body: () => Promise<T>, requestId?: string) => operation('write', { ...org.scope, requestId }, body)
const system = () => ({ kind: 'system', orgId: org.id }) as const

/** In order of time: a to e. */
const ids: Record<string, string> = {}
const names = (nodes: { id: string }[]) =>
  Object.keys(ids).filter((name) => nodes.some(({ id }) => id === encodeId('AuditEvent', ids[name]!)))

beforeAll(async () => {
  app = await startApp()
  owner = await connect(app.database.ownerUrl)
  org = await makeOrg(owner, 'acme')
  admin = app.client(await signIn(owner, org.scope))

  const facts: Record<string, () => Promise<string>> = {
    a: () => record(org.person, lit, { payload: { watts: 40, words: 'only for admins' }, spaceId, spaceSlug: 'den' }),
    b: () => record(org.person, dimmed, { payload: {}, spaceId, roomId, target: { kind: 'Room', id: roomId } }),
    c: () => record(system(), doused, { payload: {}, target: { kind: 'Org', id: org.id }, reason: 'smoke' }),
    d: () => record(org.person, lit, { payload: { watts: 60 }, privateUserId: org.person.userId }),
    e: () => record(system(), lit, { payload: { watts: 80 }, privateUserId: newId() } satisfies Facts<object>),
  }
  for (const [name, fact] of Object.entries(facts)) ids[name] = await write(fact, name === 'b' ? requestId : undefined)
})
afterAll(async () => {
  await owner?.end()
  await app?.close()
})

const LOG = `query ($filter: AuditFilter, $first: Int, $after: String, $last: Int, $before: String) {
  auditEvents(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
    totalCount pageInfo { hasNextPage endCursor startCursor } nodes { id createdAt }
  }
}`

describe('auditEvents', () => {
  it('PLAT-15 tells owners everything, newest first', async () => {
    const { auditEvents } = await admin.run(`{
      auditEvents(filter: { category: { in: [ACTIVITY, AUDIT_ONLY] } }) {
        totalCount
        nodes {
          id createdAt category type actorKind actor { displayName } targetKind targetId target { id }
          orgSlug spaceSlug reason payload requestId cursor
        }
      }
    }`)
    expect(auditEvents.totalCount).toBe(5)
    const [e, d, c, b, a] = auditEvents.nodes
    expect([a.id, b.id, c.id, d.id, e.id]).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((name) => encodeId('AuditEvent', ids[name]!)),
    )
    expect(a).toMatchObject({
      category: 'ACTIVITY',
      type: 'lamp.lit',
      actorKind: 'HUMAN',
      actor: { displayName: 'acme' },
      targetKind: null,
      targetId: null,
      target: null,
      orgSlug: 'acme',
      spaceSlug: 'den',
      reason: null,
      payload: { watts: 40, words: 'only for admins' },
      requestId: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/),
    })
    // What it was done to may be gone; its id stays.
    expect(b).toMatchObject({ targetKind: 'Room', targetId: encodeId('Room', roomId), target: null, requestId })
    const acme = encodeId('Org', org.id)
    expect(c).toMatchObject({ actorKind: 'SYSTEM', actor: null, targetId: acme, target: { id: acme }, reason: 'smoke' })
  })

  it('PLAT-15 shows rows about a person’s private things without payload', async () => {
    const { auditEvents } = await admin.run('{ auditEvents(first: 2) { nodes { type payload } } }')
    expect(auditEvents.nodes).toEqual([
      { type: 'lamp.lit', payload: null },
      { type: 'lamp.lit', payload: null },
    ])
  })

  it('PLAT-61 pages through rows that differ in microseconds alone, in both directions', async () => {
    const batch = newId()
    await owner.query(
      `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, created_at, request_id)
       SELECT $1, 'audit_only', 'fire.doused', 'system', '2020-01-01 00:00:00.123Z'::timestamptz + n * interval '1 us', $2
       FROM generate_series(1, 25) AS n`,
      [org.id, batch],
    )
    const filter = { requestId: { eq: batch } }
    const forward: string[] = []
    for (let after: string | null = null, more = true; more; ) {
      const { auditEvents }: { auditEvents: Log } = await admin.run(LOG, { filter, first: 10, after })
      expect(auditEvents.totalCount).toBe(25)
      forward.push(...auditEvents.nodes.map(({ createdAt }) => createdAt))
      ;({ endCursor: after, hasNextPage: more } = auditEvents.pageInfo)
    }
    const micros = Array.from({ length: 25 }, (_, at) => `2020-01-01T00:00:00.${123_025 - at}Z`.replace(/0Z$/, 'Z'))
    expect(forward).toEqual(micros)

    const { auditEvents }: { auditEvents: Log } = await admin.run(LOG, { filter, last: 3 })
    expect(auditEvents.nodes.map(({ createdAt }) => createdAt)).toEqual(forward.slice(-3))
  })

  type Log = {
    totalCount: number
    pageInfo: { hasNextPage: boolean; endCursor: string | null }
    nodes: { id: string; createdAt: string }[]
  }

  const matching: [string, () => object | null, string[]][] = [
    ['none', () => null, ['a', 'b', 'c', 'd', 'e']],
    ['an empty one', () => ({}), ['a', 'b', 'c', 'd', 'e']],
    ['a type', () => ({ type: { eq: 'lamp.dimmed' } }), ['b']],
    ['a wildcard', () => ({ type: { eq: 'lamp.*' } }), ['a', 'b', 'd', 'e']],
    ['types and wildcards', () => ({ type: { in: ['lamp.dimmed', 'fire.*'] } }), ['b', 'c']],
    ['a beginning', () => ({ type: { prefix: 'lamp.d' } }), ['b']],
    ['a category', () => ({ category: { eq: 'ACTIVITY' } }), ['a', 'd', 'e']],
    ['not a category', () => ({ category: { nin: ['ACTIVITY'] } }), ['b', 'c']],
    ['a kind of actor', () => ({ actorKind: { eq: 'SYSTEM' } }), ['c', 'e']],
    ['an actor', () => ({ actor: { eq: encodeId('User', org.person.userId) } }), ['a', 'b', 'd']],
    ['any other actor', () => ({ actor: { neq: encodeId('User', org.person.userId) } }), ['c', 'e']],
    ['no actor', () => ({ actor: { isNull: true } }), ['c', 'e']],
    ['a target', () => ({ targetId: { eq: encodeId('Room', roomId) } }), ['b']],
    ['targets', () => ({ targetId: { in: [encodeId('Room', roomId), encodeId('Org', org.id)] } }), ['b', 'c']],
    ['any other target', () => ({ targetId: { neq: encodeId('Room', roomId) } }), ['a', 'c', 'd', 'e']],
    ['some target', () => ({ targetId: { isNull: false } }), ['b', 'c']],
    ['a space', () => ({ spaceId: { eq: encodeId('Space', spaceId) } }), ['a', 'b']],
    ['a room', () => ({ roomId: { in: [encodeId('Room', roomId)] } }), ['b']],
    ['another room', () => ({ roomId: { nin: [encodeId('Room', roomId)] } }), ['a', 'c', 'd', 'e']],
    ['a request', () => ({ requestId: { eq: requestId } }), ['b']],
    ['two fields', () => ({ category: { eq: 'ACTIVITY' }, spaceId: { isNull: false } }), ['a']],
    ['or', () => ({ or: [{ roomId: { isNull: false } }, { actorKind: { eq: 'SYSTEM' } }] }), ['b', 'c', 'e']],
    ['and', () => ({ and: [{ type: { eq: 'lamp.*' } }, { not: { category: { eq: 'ACTIVITY' } } }] }), ['b']],
    // Exactly what `or` does not give, rows without a room included.
    [
      'not or',
      () => ({ not: { or: [{ roomId: { eq: encodeId('Room', roomId) } }, { actorKind: { eq: 'SYSTEM' } }] } }),
      ['a', 'd'],
    ],
    ['not not', () => ({ not: { not: { spaceId: { neq: encodeId('Space', spaceId) } } } }), ['c', 'd', 'e']],
  ]
  it.each(matching)('PLAT-20 filters by %s', async (_what, filter, expected) => {
    const recent = { createdAt: { gte: '2021-01-01T00:00:00Z' } }
    const { auditEvents } = await admin.run(LOG, { filter: filter() && { and: [recent], ...filter() } })
    expect(names(auditEvents.nodes)).toEqual(expected)
    if (filter()) expect(auditEvents.totalCount).toBe(expected.length)
  })

  let foreign: Promise<Org> | undefined
  const elsewhere = () => (foreign ??= makeOrg(owner, 'foreign'))
  const unknown: [string, (absent: string) => object][] = [
    ['an actor', (id) => ({ actor: { eq: encodeId('User', id) } })],
    ['any other actor', (id) => ({ actor: { neq: encodeId('User', id) } })],
    ['a space', (id) => ({ spaceId: { eq: encodeId('Space', id) } })],
    ['one room of two', (id) => ({ roomId: { in: [encodeId('Room', roomId), encodeId('Room', id)] } })],
    ['a project', (id) => ({ projectId: { eq: encodeId('Project', id) } })],
    ['a target', (id) => ({ targetId: { eq: encodeId('Session', id) } })],
    ['the same UUID as another type', () => ({ targetId: { eq: encodeId('Space', roomId) } })],
    ['a room deep inside', (id) => ({ or: [{ not: { and: [{ roomId: { nin: [encodeId('Room', id)] } }] } }] })],
  ]
  it.each(unknown)('PLAT-20, PLAT-83 finds nothing, not an empty list, by an unknown id: %s', async (_what, filter) => {
    const lists =
      'query ($filter: AuditFilter) { auditEvents(filter: $filter) { totalCount } activity(filter: $filter) { totalCount } }'
    for (const absent of [newId(), (await elsewhere()).person.userId]) {
      expect(await admin.run(lists, { filter: filter(absent) })).toEqual({ auditEvents: null, activity: null })
      const feed = await admin.send('query ($filter: AuditFilter) { auditFeed(filter: $filter) { caughtUp } }', {
        filter: filter(absent),
      })
      expect(feed.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }])
    }
  })

  it('PLAT-20 filters by time to the microsecond', async () => {
    const { auditEvents } = await admin.run(LOG, { filter: { type: { eq: 'lamp.*' } } })
    const times = auditEvents.nodes.map(({ createdAt }: { createdAt: string }) => createdAt)
    const between = await admin.run(LOG, { filter: { createdAt: { gte: times[2], lt: times[0] } } })
    expect(names(between.auditEvents.nodes)).toEqual(expect.arrayContaining(['b', 'd']))
    expect(names(between.auditEvents.nodes)).not.toContain('e')
    expect(names(between.auditEvents.nodes)).not.toContain('a')
  })

  const refused: [string, object, string[]][] = [
    ['an unknown type', { type: { eq: 'lamp.lost' } }, ['filter', 'type', 'eq']],
    ['a wildcard without types', { type: { in: ['lamp.*', 'lump.*'] } }, ['filter', 'type', 'in', '1']],
    ['a beginning without types', { type: { prefix: 'lamp_' } }, ['filter', 'type', 'prefix']],
    ['a bare UUID', { spaceId: { eq: spaceId } }, ['filter', 'spaceId', 'eq']],
    ['another type’s id', { roomId: { eq: encodeId('Space', spaceId) } }, ['filter', 'roomId', 'eq']],
    ['no node’s id', { targetId: { eq: 'xyz_01h455vb4pex5vsknk084sn02q' } }, ['filter', 'targetId', 'eq']],
    ['null for a comparison', { spaceId: { eq: null } }, ['filter', 'spaceId', 'eq']],
    ['null for a field', { spaceId: null }, ['filter', 'spaceId']],
    ['no comparison', { spaceId: {} }, ['filter', 'spaceId']],
    ['isNull of what is never null', { category: { isNull: true } }, ['filter', 'category', 'isNull']],
    ['an empty not', { not: {} }, ['filter', 'not']],
    ['an empty or', { or: [] }, ['filter', 'or']],
    ['an or with an empty branch', { or: [{ type: { eq: 'lamp.*' } }, {}] }, ['filter', 'or', '1']],
    [
      'a fault deep inside',
      { and: [{ not: { roomId: { in: ['x'] } } }] },
      ['filter', 'and', '0', 'not', 'roomId', 'in', '0'],
    ],
    ['too many values', { requestId: { in: Array.from({ length: 101 }, newId) } }, ['filter', 'requestId', 'in']],
  ]
  it.each(refused)('PLAT-20 refuses %s', async (_what, filter, path) => {
    const { errors } = await admin.send(LOG, { filter })
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_REQUEST',
      issues: [{ path, message: expect.any(String) }],
    })
  })

  it.each([
    '2021-02-30T00:00:00Z',
    '0000-12-31T00:00:00Z',
    '2021-01-01T00:00:00+16:00',
    '2021-01-01T25:00:00Z',
    '2021-01-01',
  ])('PLAT-59 refuses %s, which is no instant', async (gte) => {
    const { errors } = await admin.send(LOG, { filter: { createdAt: { gte } } })
    expect(errors?.[0]?.extensions.code).toBe('BAD_REQUEST')
  })

  it.each(['2020-02-29T23:59:59.999999Z', '0001-01-01T00:00:00Z', '2021-01-01T24:00:00Z', '2021-01-01T00:00:00-15:59'])(
    'PLAT-59 takes %s',
    async (gte) => {
      expect((await admin.run(LOG, { filter: { createdAt: { gte } } })).auditEvents.totalCount).toBeGreaterThan(0)
    },
  )

  it('PLAT-20 refuses filters without bounds', async () => {
    const wide = { or: Array.from({ length: 101 }, () => ({ category: { eq: 'ACTIVITY' } })) }
    let deep: object = { category: { eq: 'ACTIVITY' } }
    for (let i = 0; i < 30; i++) deep = { not: deep }
    for (const filter of [wide, deep]) {
      const { errors } = await admin.send(LOG, { filter })
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST', issues: [{}] })
    }
  })

  it('PLAT-15 is for owners and admins', async () => {
    const events = encodeId('AuditEvent', ids['c']!)
    const ask = `{ auditEvents { totalCount } }`
    const node = `query ($id: ID!) { node(id: $id) { id } }`
    expect(await admin.run(node, { id: events })).toEqual({ node: { id: events } })

    const member = await makeOrg(owner, 'plain')
    await owner.query(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'member', 'plain', now())`,
      [org.id, member.person.userId],
    )
    const client = app.client(await signIn(owner, { orgId: org.id, userId: member.person.userId }))
    expect((await client.send(ask)).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    expect((await client.send('{ auditFeed { cursor } }')).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    expect(await client.run(node, { id: events })).toEqual({ node: null })

    const stranger = app.client(await signIn(owner, member.scope))
    expect(await stranger.run(ask)).toEqual({ auditEvents: { totalCount: 0 } })
    expect(await stranger.run(node, { id: events })).toEqual({ node: null })
    expect((await app.client().send(ask)).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
  })
})

const FEED = `query ($after: String, $first: Int, $filter: AuditFilter) {
  auditFeed(after: $after, first: $first, filter: $filter) {
    cursor caughtUp items { cursor event { id type payload cursor actor { displayName } } }
  }
}`

describe('auditFeed', () => {
  type Feed = {
    cursor: string
    caughtUp: boolean
    items: { cursor: string; event: { id: string; payload: unknown; cursor: string; actor: unknown } }[]
  }
  const feed = async (variables: object): Promise<Feed> =>
    (await admin.run<{ auditFeed: Feed }, object>(FEED, variables)).auditFeed

  it('PLAT-17 goes through all events by cursor, each event’s own included', async () => {
    const all = await feed({ first: 100 })
    expect(names(all.items.map(({ event }) => event))).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(all.items.map(({ event }) => event.cursor)).toEqual(all.items.map(({ cursor }) => cursor))
    expect(all.cursor).toBe(all.items.at(-1)?.cursor)

    const paged: Feed['items'] = []
    let page = await feed({ first: 2 })
    for (; ; page = await feed({ first: 2, after: page.cursor })) {
      paged.push(...page.items)
      if (page.items.length < 2) break
    }
    expect(paged).toEqual(all.items)
    const behindC = await feed({ first: 1, after: all.items[2]?.cursor })
    expect(behindC.items).toEqual([all.items[3]])
  })

  it('PLAT-15 shows projections: without what only admins get, in the form for everybody', async () => {
    reads = 0
    const { items } = await feed({ filter: { type: { eq: 'lamp.lit' } } })
    expect(items.map(({ event }) => event.payload)).toEqual([
      { watts: 40, form: 'org', org: 'acme', gone: null },
      { watts: 60, form: 'org', org: 'acme', gone: null }, // one’s own private thing
      null, // another’s
    ])
    expect(reads).toBe(1) // what two events need is read once
    expect(items[0]?.event.actor).toEqual({ displayName: 'acme' })

    const { node } = await admin.run('query ($id: ID!) { node(id: $id) { ... on AuditEvent { payload } } }', {
      id: encodeId('AuditEvent', ids['a']!),
    })
    expect(node.payload).not.toHaveProperty('words')
  })

  it('PLAT-83 answers a cursor that is none with BAD_REQUEST', async () => {
    const { errors } = await admin.send(FEED, { after: 'bm9uc2Vuc2U' })
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST', issues: [{ path: ['after'] }] })
  })
})

it('PLAT-58 shows the ids in payloads as global ids, in full and projected, and stores UUIDs', async () => {
  const { userId } = org.person
  const [first, second] = [newId(), newId()]
  const payload = { by: userId, before: null, stops: [{ room: first }, { room: second }], note: userId }
  const id = await write(() => record(system(), carried, { payload }))

  const { auditEvents } = await admin.run('{ auditEvents(first: 1) { nodes { id payload } } }')
  const { node } = await admin.run('query ($id: ID!) { node(id: $id) { ... on AuditEvent { payload } } }', {
    id: auditEvents.nodes[0].id,
  })
  const by = encodeId('User', userId)
  const stops = [{ room: encodeId('Room', first) }, { room: encodeId('Room', second) }]
  expect(auditEvents.nodes[0].payload).toEqual({ by, before: null, stops, note: userId })
  expect(node.payload).toEqual({ by, before: null, stops, own: encodeId('Org', org.id) })
  expect((await owner.query('SELECT payload FROM platform.audit_events WHERE id = $1', [id])).rows).toEqual([
    { payload },
  ])
})
