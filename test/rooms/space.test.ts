import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const MINE = 'space { id slug name passcode myRole }'
const DIRECTORY = `query ($filter: SpaceFilter) {
  spaces(filter: $filter) {
    nodes {
      id slug name hasPasscode passcode archivedAt abandoned myRole mySpectator decks { id } kinds { kind }
      members(first: 5) { totalCount nodes { joinedAt } } rooms(first: 5) { totalCount nodes { id } }
    }
  }
}`
let slugs = 0
const freeSlug = () => `team-${++slugs}`

describe('ROOM-10', () => {
  it('ROOM-10 makes a space whose first owner is the caller', async () => {
    const member = await world.member({ space: null })
    const slug = freeSlug()
    const made = await member.mutate('spaceCreate', { slug, name: '  Cafe\u0301 ', passcode: 'pen' }, MINE)
    expect(made.space).toMatchObject({ slug, name: 'Café', passcode: 'pen', myRole: 'OWNER' })
    const facts = await world.sql(
      `SELECT event_type, payload, space_slug FROM platform.audit_events WHERE actor_user_id = $1`,
      [member.userId],
    )
    expect(facts).toEqual([{ event_type: 'space.created', payload: { slug }, space_slug: slug }])
  })

  it('ROOM-10 gives a slug to the first of several who take it at once', async () => {
    const slug = freeSlug()
    const people = await Promise.all([1, 2, 3].map(() => world.member()))
    const made = await Promise.all(people.map((person) => person.mutate('spaceCreate', { slug, name: 'Team' })))
    expect(made.map(({ __typename }) => __typename).sort()).toEqual([
      'ConflictError',
      'ConflictError',
      'SpaceCreatePayload',
    ])
  })

  it('ROOM-10 answers ConflictError also where the database finds the slug taken', async () => {
    const slug = freeSlug()
    const held = await world.hold(`INSERT INTO rooms.spaces (org_id, slug, name) VALUES ($1, $2, 'Held')`, [
      world.org.id,
      slug,
    ])
    const late = world.owner.mutate('spaceCreate', { slug, name: 'Team' })
    await world.untilBlocked()
    await held.release()
    expect(await late).toMatchObject({ code: 'CONFLICT' })
  })

  it('ROOM-10 refuses viewers, anonymous people, guests and meeting clients', async () => {
    const { room } = await world.pokerRoom()
    const callers = [await world.viewer(), await world.anonymous(), await world.embedded(), await world.guest(room)]
    for (const caller of callers) {
      expect(await caller.mutate('spaceCreate', { slug: freeSlug(), name: 'Team' })).toMatchObject({
        code: 'FORBIDDEN',
      })
    }
  })

  it.each([['Team'], ['-a'], ['a-'], ['a--b'], ['a b'], ['é']])('ROOM-10 refuses the slug %s', async (slug) => {
    const refused = await world.owner.mutate('spaceCreate', { slug, name: 'Team' })
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['input', 'slug'] }] })
  })

  it('ROOM-7 measures names and passcodes in characters, after trimming', async () => {
    const create = (given: object) =>
      world.owner.mutate('spaceCreate', { slug: freeSlug(), name: 'Team', ...given }, MINE)
    expect((await create({ name: ` ${'🙂'.repeat(64)} ` })).space.name).toBe('🙂'.repeat(64))
    expect(await create({ name: '🙂'.repeat(65) })).toMatchObject({ issues: [{ path: ['input', 'name'] }] })
    expect(await create({ name: ' ' })).toMatchObject({ issues: [{ path: ['input', 'name'] }] })
    expect((await create({ passcode: 'é'.repeat(12) })).space.passcode).toBe('é'.repeat(12))
    expect(await create({ passcode: 'x'.repeat(13) })).toMatchObject({ issues: [{ path: ['input', 'passcode'] }] })
  })
})

describe('ROOM-11', () => {
  it('ROOM-11 lets owners change name, slug and passcode; the old slug stops working at once', async () => {
    const [owner, newcomer] = [await world.member({ space: null }), await world.member({ space: null })]
    const space = await world.space({ owner })
    const slug = freeSlug()
    const input = { id: space.id, slug, name: 'Renamed', passcode: 'new' }
    const changed = await owner.mutate('spaceUpdate', input, MINE)
    expect(changed.space).toMatchObject({ slug, name: 'Renamed', passcode: 'new' })
    expect(await newcomer.mutate('spaceJoin', { slug: space.slug })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await newcomer.mutate('spaceJoin', { slug, passcode: 'new' }, MINE)).toMatchObject({ space: { slug } })

    const [fact] = await world.sql(
      `SELECT payload, space_slug FROM platform.audit_events WHERE space_id = $1 AND event_type = 'space.updated'`,
      [space.uuid],
    )
    expect(fact).toEqual({ payload: { fields: ['slug', 'name', 'passcode'] }, space_slug: slug })
  })

  it('ROOM-4 changes and records nothing when all is as given', async () => {
    const space = await world.space({ passcode: 'same' })
    const kept = await world.owner.mutate('spaceUpdate', { id: space.id, slug: space.slug, passcode: 'same' }, MINE)
    expect(kept.space.slug).toBe(space.slug)
    expect(await world.facts({ space })).toEqual([])
  })

  it('ROOM-11 shows the passcode to members and nobody else', async () => {
    const space = await world.space({ passcode: 'secret' })
    const query = 'query ($id: ID!) { node(id: $id) { ... on Space { passcode } } }'
    for (const member of [
      await world.member({ space }),
      await world.viewer({ space }),
      await world.anonymous({ space }),
    ])
      expect(await member.run(query, { id: space.id })).toEqual({ node: { passcode: 'secret' } })
    const admin = await world.member({ space: null, role: 'admin' })
    for (const other of [admin, await world.outsider(), await world.otherOrg()])
      expect(await other.run(query, { id: space.id })).toEqual({ node: null })
    const { spaces } = await admin.run(DIRECTORY)
    const listed = spaces.nodes.find(({ id }: { id: string }) => id === space.id)
    expect(listed).toMatchObject({ hasPasscode: true, passcode: null })
  })

  it('ROOM-11 refuses a taken slug', async () => {
    const [space, other] = [await world.space(), await world.space()]
    const refused = await world.owner.mutate('spaceUpdate', { id: space.id, slug: other.slug })
    expect(refused).toMatchObject({ code: 'CONFLICT' })
  })
})

describe('ROOM-12', () => {
  it('ROOM-12 lists id, slug, name and whether there is a passcode to every registered member of the org', async () => {
    const owner = await world.member({ space: null })
    const space = await world.space({ owner, passcode: 'x' })
    await world.pokerRoom({ space, host: owner })
    await world.sql(`INSERT INTO rooms.decks (org_id, space_id, name, cards) VALUES ($1, $2, 'Deck', '{1,2}')`, [
      world.org.id,
      space.uuid,
    ])
    for (const reader of [await world.outsider(), await world.viewer({ space: null })]) {
      const { spaces } = await reader.run(DIRECTORY, { filter: { slug: { eq: space.slug } } })
      expect(spaces.nodes).toEqual([
        {
          id: space.id,
          slug: space.slug,
          name: `Space ${space.slug}`,
          hasPasscode: true,
          passcode: null,
          archivedAt: null,
          abandoned: null,
          myRole: null,
          mySpectator: null,
          decks: [],
          kinds: [],
          members: { totalCount: 0, nodes: [] },
          rooms: { totalCount: 0, nodes: [] },
        },
      ])
    }
    const { spaces } = await owner.run(DIRECTORY, { filter: { slug: { eq: space.slug } } })
    expect(spaces.nodes[0]).toMatchObject({
      passcode: 'x',
      abandoned: false,
      myRole: 'OWNER',
      mySpectator: false,
      decks: [{}],
      kinds: [{ kind: 'poker' }, { kind: 'standup' }],
      members: { totalCount: 1 },
      rooms: { totalCount: 1 },
    })
  })

  it('ROOM-12 shows no archived space, none of another org, and nothing to participants and guests', async () => {
    const [space, stranger] = [await world.space(), await world.otherOrg()]
    await world.sql('UPDATE rooms.spaces SET archived_at = now() WHERE id = $1', [space.uuid])
    const { spaces } = await world.owner.run(DIRECTORY)
    const ids = spaces.nodes.map(({ id }: { id: string }) => id)
    expect(ids).toContain(world.home.id)
    expect(ids).not.toContain(space.id)
    expect(ids).not.toContain(stranger.space.id)
    expect((await stranger.run(DIRECTORY)).spaces.nodes.map(({ id }: { id: string }) => id)).toEqual([
      stranger.space.id,
    ])

    const { room } = await world.pokerRoom()
    for (const caller of [await world.anonymous(), await world.embedded(), await world.guest(room)]) {
      const { data, errors } = await caller.send(DIRECTORY)
      expect([data, errors?.[0]?.extensions.code]).toEqual([{ spaces: null }, 'FORBIDDEN'])
    }
  })

  it('ROOM-12 pages by name', async () => {
    const owner = await world.otherOrg()
    for (const name of ['Zebra', 'apple', 'Äpfel', 'Mango']) {
      await owner.mutate('spaceCreate', { slug: freeSlug(), name })
    }
    const page = `query ($after: String) { spaces(first: 2, after: $after) { nodes { name } pageInfo { endCursor hasNextPage } totalCount } }`
    const names: string[] = []
    let after: string | null = null
    do {
      const { spaces } = await owner.run(page, { after })
      expect(spaces.totalCount).toBe(5)
      names.push(...spaces.nodes.map(({ name }: { name: string }) => name))
      after = spaces.pageInfo.hasNextPage ? spaces.pageInfo.endCursor : null
    } while (after)
    expect(names).toEqual([...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
    expect(names).toHaveLength(5)
  })
})

describe('space', () => {
  it('ROOM-6 gives a space to its members by id or slug, and to nobody else', async () => {
    const space = await world.space()
    const byId = 'query ($id: ID!) { space(id: $id) { id } }'
    const bySlug = 'query ($slug: String!) { space(slug: $slug) { id } }'
    const [member, admin] = [await world.member({ space }), await world.member({ space: null, role: 'admin' })]
    expect(await member.run(byId, { id: space.id })).toEqual({ space: { id: space.id } })
    expect(await member.run(bySlug, { slug: space.slug })).toEqual({ space: { id: space.id } })
    const { room } = await world.pokerRoom({ space })
    for (const other of [admin, await world.outsider(), await world.otherOrg(), await world.guest(room)]) {
      expect(await other.run(byId, { id: space.id })).toEqual({ space: null })
      expect(await other.run(bySlug, { slug: space.slug })).toEqual({ space: null })
    }
  })

  it('asks for an id or a slug', async () => {
    for (const args of ['', `(id: "${world.home.id}", slug: "${world.home.slug}")`]) {
      const { errors } = await world.owner.send(`{ space${args} { id } }`)
      expect(errors?.[0]?.extensions.code).toBe('BAD_REQUEST')
    }
  })

  it('pages rooms, the newest first, and filters them', async () => {
    const space = await world.space()
    const titles = ['A', 'B', 'C']
    for (const title of titles) {
      const { room } = await world.pokerRoom({ space, host: world.owner })
      await world.sql('UPDATE rooms.rooms SET title = $2 WHERE id = $1', [room.uuid, title])
    }
    const query = `query ($id: ID!, $first: Int, $after: String, $filter: RoomFilter) {
      space(id: $id) { rooms(first: $first, after: $after, filter: $filter) {
        nodes { title facilitator { id } } edges { node { title } } pageInfo { endCursor hasNextPage } totalCount
      } }
    }`
    const { rooms } = (await world.owner.run(query, { id: space.id, first: 2 })).space
    expect(rooms).toMatchObject({
      nodes: [{ title: 'C', facilitator: { id: world.owner.id } }, { title: 'B' }],
      edges: [{ node: { title: 'C' } }, { node: { title: 'B' } }],
      pageInfo: { hasNextPage: true },
      totalCount: 3,
    })
    const rest = (await world.owner.run(query, { id: space.id, after: rooms.pageInfo.endCursor })).space.rooms
    expect(rest.nodes.map(({ title }: { title: string }) => title)).toEqual(['A'])
    const some = (await world.owner.run(query, { id: space.id, filter: { title: { in: ['A', 'C'] } } })).space.rooms
    expect(some.nodes.map(({ title }: { title: string }) => title)).toEqual(['C', 'A'])
  })

  it.each(['2026-02-30T00:00:00Z', '2026-99-99T99:99:99Z', '0000-01-01T00:00:00Z'])(
    'PLAT-83 takes no cursor that names the instant %s',
    async (instant) => {
      const after = Buffer.from(JSON.stringify([instant, world.home.uuid])).toString('base64url')
      const { errors } = await world.owner.send(
        'query ($id: ID!, $after: String) { space(id: $id) { members(after: $after) { nodes { role } } } }',
        { id: world.home.id, after },
      )
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST', issues: [{ path: ['after'] }] })
    },
  )

  it('PLAT-61 answers one list asked for twice with different arguments', async () => {
    const space = await world.space()
    await world.pokerRoom({ space, host: world.owner })
    const answer = await world.owner.run(
      `query ($id: ID!) { space(id: $id) {
        all: rooms { totalCount } none: rooms(filter: { phase: { eq: "done" } }) { totalCount nodes { id } }
        one: members(first: 1) { nodes { user { id } } } } }`,
      { id: space.id },
    )
    expect(answer.space).toEqual({
      all: { totalCount: 1 },
      none: { totalCount: 0, nodes: [] },
      one: { nodes: [{ user: { id: world.owner.id } }] },
    })
  })
})
