import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { operation } from '../../src/db/operation.ts'
import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import { defineEvent, type Facts, record } from '../../src/platform/index.ts'
import type { Actor, Asker, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { type EventStream, openEventStream } from '../support/event-stream.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'

const rung = defineEvent('gong.rung', {
  category: 'activity',
  payload: z.strictObject({ times: z.number(), by: z.string() }),
  projection: ({ payload: { times } }) => ({ times }),
})
const polished = defineEvent('gong.polished', { category: 'audit_only', payload: z.strictObject({}) })

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world?.close())

const write = <T>(body: () => Promise<T>) => operation('write', { orgId: world.org.id }, body)
const system = () => ({ kind: 'system', orgId: world.org.id }) as const
const ring = async (facts: Omit<Facts<object>, 'payload'> = {}, times = 1): Promise<string> =>
  encodeId('AuditEvent', await write(() => record(system(), rung, { ...facts, payload: { times, by: 'the sexton' } })))

const GONGS = { type: { eq: 'gong.*' } }
const LIST = `query ($filter: AuditFilter) { activity(filter: $filter, first: 100) { totalCount nodes { id } } }`
const FEED = `subscription ($after: String, $filter: AuditFilter) {
  activityFeed(after: $after, filter: $filter) { cursor event { id type payload } } }`

const seenBy = async (by: Asker): Promise<string[]> => {
  const { activity } = await by.run(LIST, { filter: GONGS })
  expect(activity.totalCount).toBe(activity.nodes.length)
  return activity.nodes.map(({ id }: { id: string }) => id)
}
const follow = ({ client }: Asker, variables: object): Promise<EventStream> =>
  openEventStream(client.url, client.token!, FEED, variables)
const idsIn = ({ answers }: EventStream): string[] =>
  answers.flatMap(({ data }) => (data?.activityFeed ? [data.activityFeed.event.id as string] : []))
/** A place in the feed before all that follows, told to an admin. */
async function cursorOfNow(): Promise<string> {
  const last = encodeId('AuditEvent', await write(() => record(system(), polished, { payload: {} })))
  const query = 'query ($id: ID!) { node(id: $id) { ... on AuditEvent { cursor } } }'
  return (await world.owner.run(query, { id: last })).node.cursor
}

describe('who sees what', () => {
  /** What happened, by where. */
  const events: Record<string, string> = {}
  const people: Record<string, Asker> = {}
  let after: string
  let room: TestRoom
  let gone: TestRoom
  let space: TestSpace

  beforeAll(async () => {
    const admin = await world.member({ role: 'admin', space: null })
    space = await world.space()
    const elsewhere = await world.outsider()
    const host = await world.member({ space })
    room = (await world.pokerRoom({ space, host })).room
    gone = (await world.pokerRoom({ space, host })).room
    const guest = await world.guest(room)
    const member = await world.member({ space })
    Object.assign(people, {
      admin,
      member,
      viewer: await world.viewer({ space }),
      owner: world.owner, // owns org and space
      outsider: await world.member({ space: null }),
      elsewhere,
      agent: await world.agent({ space }),
      'agent outside': await world.agent({ space: null }),
      'agent without rooms': await world.agent({ space, scopes: ['work:read'] }),
      'admin key': await world.adminKey(),
      stranger: await world.otherOrg(),
    })
    after = await cursorOfNow()
    const inSpace = { spaceId: space.uuid, spaceSlug: space.slug }
    events['org'] = await ring()
    events['space'] = await ring(inSpace)
    events['room'] = await ring({ ...inSpace, roomId: room.uuid })
    events['deleted room'] = await ring({ ...inSpace, roomId: gone.uuid })
    events['room alone'] = await ring({ roomId: room.uuid }) // as what a guest does to their own profile
    events['deleted room alone'] = await ring({ roomId: gone.uuid })
    events['another space'] = await ring({ spaceId: elsewhere.space.uuid, spaceSlug: elsewhere.space.slug })
    events['no such space'] = await ring({ spaceId: newId(), spaceSlug: 'gone' })
    events['project'] = await ring({ projectId: newId() })
    events['private'] = await ring({ privateUserId: member.userId })
    events['private in the space'] = await ring({ ...inSpace, privateUserId: member.userId })
    events['private elsewhere'] = await ring({ spaceId: elsewhere.space.uuid, privateUserId: member.userId })
    await write(() => record(system(), polished, { spaceId: space.uuid, payload: {} }))
    await host.mutate('roomDelete', { id: gone.id })
    expect((await guest.mutate('viewerUpdate', { displayName: 'A guest' })).__typename).toBe('ViewerUpdatePayload')
  })

  const INSIDE = ['org', 'space', 'room', 'deleted room', 'room alone']
  const SIGHT: Record<string, string[]> = {
    admin: ['org'], // custody opens no space (ID-62)
    member: [...INSIDE, 'private', 'private in the space'],
    viewer: INSIDE,
    owner: INSIDE,
    outsider: ['org'],
    elsewhere: ['org', 'another space'],
    agent: INSIDE,
    'agent outside': ['org'],
    'agent without rooms': ['org'],
    'admin key': ['org'],
    stranger: [],
  }
  const named = (ids: readonly string[]) =>
    Object.keys(events)
      .filter((name) => ids.includes(events[name]!))
      .concat(ids.filter((id) => !Object.values(events).includes(id)))

  it.each(Object.keys(SIGHT))('PLAT-15 the list, exactly: %s', async (name) => {
    const ids = await seenBy(people[name]!)
    expect(named(ids)).toEqual(SIGHT[name])
    // Newest first.
    const order = Object.values(events).toReversed()
    expect(ids.toSorted((a, b) => order.indexOf(a) - order.indexOf(b))).toEqual(ids)
  })

  it.each(Object.keys(SIGHT))('PLAT-15, 17 the feed, exactly and in order: %s', async (name) => {
    if (name === 'stranger') return
    const stream = await follow(people[name]!, { after, filter: GONGS })
    const end = await ring()
    await stream.next(({ data }) => data?.activityFeed?.event.id === end)
    stream.close()
    const ids = idsIn(stream).filter((id) => Object.values(events).includes(id))
    expect(named(ids)).toEqual(SIGHT[name])
    const order = Object.values(events)
    expect(ids.toSorted((a, b) => order.indexOf(a) - order.indexOf(b))).toEqual(ids)
    expect(stream.answers.flatMap(({ errors }) => errors ?? [])).toEqual([])
  })

  it.each(Object.keys(SIGHT))('PLAT-31 an id in hand, exactly: %s', async (name) => {
    const { nodes } = await people[name]!.run('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: Object.values(events),
    })
    const found = nodes.flatMap((node: { id: string } | null) => (node ? [node.id] : []))
    const all = ['admin', 'owner', 'admin key'].includes(name) // readers of the whole log
    expect(named(found)).toEqual(all ? Object.keys(events) : SIGHT[name])
  })

  it('PLAT-15 shows projections, to owners too, and what is recorded for admins alone to nobody', async () => {
    for (const by of [people['owner']!, people['member']!]) {
      const { activity } = await by.run(
        'query ($id: ID!) { activity(filter: { type: { eq: "gong.*" }, spaceId: { eq: $id } }) { nodes { type payload } } }',
        { id: space.id },
      )
      expect(activity.nodes.length).toBeGreaterThan(2)
      for (const node of activity.nodes) expect(node).toEqual({ type: 'gong.rung', payload: { times: 1 } })
    }
  })

  it('PLAT-11, 15 a guest’s change of their profile shows to those who can open their room', async () => {
    const sees = async (name: string) => {
      const { activity } = await people[name]!.run(
        '{ activity(filter: { type: { eq: "user.updated" } }) { totalCount } }',
      )
      return activity.totalCount
    }
    expect(await sees('member')).toBe(1)
    expect(await sees('outsider')).toBe(0)
    expect(await sees('admin')).toBe(0)
  })

  it('PLAT-20 names what the caller may see, or was told of; anything else finds nothing', async () => {
    const find = async (name: string, filter: object): Promise<string[] | null> => {
      const { activity } = await people[name]!.run(LIST, { filter: { and: [GONGS, filter] } })
      return activity && named(activity.nodes.map(({ id }: { id: string }) => id))
    }
    const inGone = { roomId: { eq: gone.id } }
    expect(await find('member', inGone)).toEqual(['deleted room'])
    expect(await find('member', { roomId: { eq: room.id } })).toEqual(['room', 'room alone'])
    for (const name of ['outsider', 'elsewhere', 'admin', 'agent outside', 'admin key']) {
      expect(await find(name, inGone), name).toBeNull()
      expect(await find(name, { roomId: { eq: room.id } }), name).toBeNull()
      expect(await find(name, { not: { spaceId: { eq: space.id } } }), name).toBeNull()
    }
    expect(await find('outsider', { actor: { eq: (people['stranger'] as Actor).id } })).toBeNull()
    expect(await find('outsider', { actor: { neq: (people['member'] as Actor).id } })).toContain('org')
  })

  it('PLAT-83 opens no feed that names what is not the caller’s, and none for who reads no activity', async () => {
    const guest = await world.guest(room)
    const refused: [Asker, object, string][] = [
      [people['outsider']!, { filter: { spaceId: { eq: space.id } } }, 'NOT_FOUND'],
      [people['outsider']!, { filter: { type: { eq: 'no.such_type' } } }, 'BAD_REQUEST'],
      [people['outsider']!, { after: 'bm9uc2Vuc2U' }, 'BAD_REQUEST'],
      [people['stranger']!, { after }, 'BAD_REQUEST'],
      [await world.anonymous(), {}, 'FORBIDDEN'],
      [await world.embedded(), {}, 'FORBIDDEN'],
      [guest, {}, 'FORBIDDEN'],
    ]
    for (const [by, variables, code] of refused) {
      const stream = await follow(by, variables)
      const answer = await stream.next(({ errors }) => errors !== undefined)
      expect(answer.errors).toMatchObject([{ extensions: { code } }])
    }
    const audit = 'subscription ($filter: AuditFilter) { auditFeed(filter: $filter) { cursor } }'
    const { client } = world.owner
    const unknown = { filter: { roomId: { eq: encodeId('Room', newId()) } } }
    const opened = await openEventStream(client.url, client.token!, audit, unknown)
    expect((await opened.next(({ errors }) => errors !== undefined)).errors).toMatchObject([
      { extensions: { code: 'NOT_FOUND' } },
    ])
    expect((await guest.send(LIST)).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
  })
})

describe('the feed as it goes on', () => {
  it('PLAT-15, 17 follows who comes into a space and who leaves it', async () => {
    const space = await world.space()
    const inSpace = { spaceId: space.uuid, spaceSlug: space.slug }
    const person = await world.member({ space: null })
    const stream = await follow(person, { after: await cursorOfNow(), filter: GONGS })
    const before = await ring(inSpace)
    const marks = [await ring()]
    await stream.next(({ data }) => data?.activityFeed?.event.id === marks[0])

    await world.join(person, { space })
    const during = await ring(inSpace)
    await stream.next(({ data }) => data?.activityFeed?.event.id === during)

    await person.mutate('spaceLeave', { id: space.id })
    const afterwards = await ring(inSpace)
    const end = await ring()
    await stream.next(({ data }) => data?.activityFeed?.event.id === end)
    stream.close()
    expect(idsIn(stream)).toEqual([marks[0], during, end])
    expect(idsIn(stream)).not.toContain(before)
    expect(idsIn(stream)).not.toContain(afterwards)
  })

  it('PLAT-17 begins at now, and goes on behind its last cursor without gap or repeat', async () => {
    const person = await world.member()
    await ring()
    const first = await follow(person, { filter: GONGS })
    const early: string[] = []
    const ringing = setInterval(() => void ring().then((id) => early.push(id)), 50)
    const answer = await first.next(({ data }) => data?.activityFeed)
    clearInterval(ringing)
    first.close()
    const missed = [await ring(), await ring(), await ring()]
    const again = await follow(person, { after: answer.data.activityFeed.cursor, filter: GONGS })
    await again.next(({ data }) => data?.activityFeed?.event.id === missed[2])
    const live = await ring()
    await again.next(({ data }) => data?.activityFeed?.event.id === live)
    again.close()
    const ids = idsIn(again)
    expect(ids.slice(-4)).toEqual([...missed, live])
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).not.toContain(answer.data.activityFeed.event.id)
  })

  it('PLAT-19 shows a row that an older transaction hid, though nobody is told when that one ends', async () => {
    const stream = await follow(await world.member(), { after: await cursorOfNow(), filter: GONGS })
    const held = await world.hold('SELECT pg_current_xact_id()')
    const hidden = await ring()
    // What is hidden is not there yet, for nobody.
    const { auditFeed } = await world.owner.run('query ($f: AuditFilter) { auditFeed(filter: $f) { caughtUp } }', {
      f: GONGS,
    })
    expect(auditFeed.caughtUp).toBe(false)
    expect(idsIn(stream)).toEqual([])
    await held.release()
    await stream.next(({ data }) => data?.activityFeed?.event.id === hidden)
    stream.close()
  })

  it('PLAT-17 goes on behind thousands of rows that are not the reader’s', async () => {
    const elsewhere = await world.space()
    const after = await cursorOfNow()
    await world.sql(
      `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, space_id, payload)
       SELECT $1, 'activity', 'gong.rung', 'system', $2, '{"times": 1, "by": "many"}' FROM generate_series(1, 12000)`,
      [world.org.id, elsewhere.uuid],
    )
    const person = await world.member({ space: null })
    const streams = [await follow(person, { after }), await follow(person, { after, filter: GONGS })]
    const mark = await ring()
    for (const stream of streams) await stream.next(({ data }) => data?.activityFeed?.event.id === mark)
    await world.join(person, { space: elsewhere })
    const theirs = await ring({ spaceId: elsewhere.uuid, spaceSlug: elsewhere.slug })
    for (const stream of streams) {
      await stream.next(({ data }) => data?.activityFeed?.event.id === theirs)
      expect(idsIn(stream)).toEqual([mark, theirs]) // what was passed over is not looked at again
      stream.close()
    }
  })

  it('PLAT-33 ends for who loses their membership, within a second, and tells them nothing more', async () => {
    const person = await world.member()
    const stream = await follow(person, { after: await cursorOfNow(), filter: GONGS })
    const first = await ring()
    await stream.next(({ data }) => data?.activityFeed?.event.id === first)
    await world.owner.mutate('memberRevoke', { userId: person.id })
    const since = Date.now()
    await expect.poll(() => stream.ended, { interval: 5 }).toBe(true)
    expect(Date.now() - since).toBeLessThan(1_000)
    await ring()
    expect(idsIn(stream)).toEqual([first])
  })
})

it('PLAT-12 eventTypes is the list of docs/events.md', async () => {
  const { readFile } = await import('node:fs/promises')
  const docs = await readFile(new URL('../../docs/events.md', import.meta.url), 'utf8')
  const { eventTypes } = await (await world.viewer()).run(
    '{ eventTypes { name category deliverable durable projected description payload } }',
  )
  type Type = Record<'name' | 'category' | 'description' | 'payload', string> &
    Record<'deliverable' | 'durable' | 'projected', boolean>
  const sections = (eventTypes as Type[])
    .filter(({ name }) => !name.startsWith('gong.')) // this file's own
    .map(({ name, category, deliverable, durable, projected, description, payload }) => {
      const marks = [category === 'ACTIVITY' ? 'activity' : 'audit only']
      if (deliverable) marks.push('deliverable')
      if (durable) marks.push('durable')
      if (projected) marks.push('projected')
      return `### ${name}\n\n${marks.join(', ')}\n\n${description}\n\n\`\`\`ts\n${payload}\n\`\`\`\n`
    })
  const documented = docs
    .split(/^(?=### )/m)
    .slice(1)
    .map((section) => section.replace(/\n## [\s\S]*$/, ''))
  expect(sections.map((section) => section.trim())).toEqual(documented.map((section) => section.trim()))
  expect((await (await world.anonymous()).send('{ eventTypes { name } }')).errors).toMatchObject([
    { extensions: { code: 'FORBIDDEN' } },
  ])
})
