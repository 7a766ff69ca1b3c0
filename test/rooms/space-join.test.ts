import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const JOINED = 'space { id myRole mySpectator }'
const membersOf = async ({ uuid }: TestSpace) =>
  (await world.sql('SELECT user_id FROM rooms.space_members WHERE space_id = $1', [uuid])).map(({ user_id }) => user_id)

it('ROOM-14 lets members of the org, its viewers and anonymous people in by slug', async () => {
  const space = await world.space()
  const [member, viewer] = [await world.member({ space: null }), await world.viewer({ space: null })]
  const anonymous = await world.anonymous({ space: null })
  const embedded = await world.embedded(await world.member({ space: null }))
  for (const person of [member, anonymous, embedded]) {
    const joined = await person.mutate('spaceJoin', { slug: space.slug }, JOINED)
    expect(joined.space).toEqual({ id: space.id, myRole: 'MEMBER', mySpectator: false })
  }
  const watching = await viewer.mutate('spaceJoin', { slug: space.slug }, JOINED)
  expect(watching.space).toEqual({ id: space.id, myRole: 'MEMBER', mySpectator: true })
  expect(await membersOf(space)).toHaveLength(5)
  expect(await world.facts({ space })).toEqual(Array(4).fill('space.member_joined'))
})

it('ROOM-14 keeps strangers out: other orgs, guests, unknown slugs', async () => {
  const space = await world.space()
  const { room } = await world.pokerRoom({ space })
  for (const stranger of [await world.otherOrg(), await world.guest(room)]) {
    expect(await stranger.mutate('spaceJoin', { slug: space.slug })).toMatchObject({
      code: 'NOT_FOUND',
      path: ['input', 'slug'],
    })
  }
  expect(await world.owner.mutate('spaceJoin', { slug: 'nowhere' })).toMatchObject({ code: 'NOT_FOUND' })
})

it('ROOM-14 asks for the passcode, and not of who is in already', async () => {
  const space = await world.space({ passcode: 'Pen 12' })
  const person = await world.member({ space: null })
  for (const passcode of [undefined, '', 'pen 12', 'x'.repeat(100)]) {
    const refused = await person.mutate('spaceJoin', { slug: space.slug, passcode })
    expect(refused).toMatchObject({ code: 'WRONG_PASSCODE' })
  }
  expect(await membersOf(space)).not.toContain(person.userId)
  expect(await person.mutate('spaceJoin', { slug: space.slug, passcode: ' Pen 12 ' }, JOINED)).toMatchObject({
    space: { id: space.id },
  })
  expect(await person.mutate('spaceJoin', { slug: space.slug }, JOINED)).toMatchObject({ space: { id: space.id } })
})

it('ROOM-14 lets somebody try ten wrong passcodes of a space in a minute', async () => {
  const [space, other] = [await world.space({ passcode: 'right' }), await world.space({ passcode: 'right' })]
  const [person, second] = [await world.anonymous({ space: null }), await world.anonymous({ space: null })]
  const tries = await Promise.all(
    Array.from({ length: 12 }, () => person.attempt('spaceJoin', { slug: space.slug, passcode: 'wrong' })),
  )
  const answers = tries.map(({ data, errors }) => data?.spaceJoin?.code ?? errors?.[0]?.extensions.code)
  expect(answers.sort()).toEqual([...Array(2).fill('RATE_LIMITED'), ...Array(10).fill('WRONG_PASSCODE')])

  const locked = await person.send(
    `mutation { spaceJoin(input: { slug: "${space.slug}", passcode: "right" }) { __typename } }`,
  )
  expect(locked).toMatchObject({ data: { spaceJoin: null }, errors: [{ extensions: { code: 'RATE_LIMITED' } }] })
  expect(await membersOf(space)).not.toContain(person.userId)

  const elsewhere = await person.mutate('spaceJoin', { slug: other.slug, passcode: 'right' })
  expect(elsewhere.__typename).toBe('SpaceJoinPayload')
  const somebodyElse = await second.mutate('spaceJoin', { slug: space.slug, passcode: 'right' })
  expect(somebodyElse.__typename).toBe('SpaceJoinPayload')
})

it('ROOM-14 counts no right passcode', async () => {
  const space = await world.space({ passcode: 'right' })
  const person = await world.member({ space: null })
  for (let round = 0; round < 12; round++) {
    const joined = await person.mutate('spaceJoin', { slug: space.slug, passcode: 'right' })
    expect(joined.__typename).toBe('SpaceJoinPayload')
    await person.mutate('spaceLeave', { id: space.id })
  }
})

it('ROOM-14 makes one member of five parallel joins', async () => {
  const space = await world.space({ passcode: 'right' })
  const person = await world.member({ space: null })
  const join = () => person.mutate('spaceJoin', { slug: space.slug, passcode: 'right' }, JOINED)
  const joined = await Promise.all(Array.from({ length: 5 }, join))
  expect(joined.map(({ __typename }) => __typename)).toEqual(Array(5).fill('SpaceJoinPayload'))
  expect((await membersOf(space)).filter((id) => id === person.userId)).toHaveLength(1)
  expect(await world.facts({ space })).toEqual(['space.member_joined'])
})

it('ROOM-13 lets people join an archived space by its slug', async () => {
  const space = await world.space()
  await world.sql('UPDATE rooms.spaces SET archived_at = now() WHERE id = $1', [space.uuid])
  const person = await world.member({ space: null })
  const joined = await person.mutate('spaceJoin', { slug: space.slug }, 'space { id archivedAt }')
  expect(joined.space).toEqual({ id: space.id, archivedAt: expect.any(String) })
})

const OWN = `query ($first: Int, $after: String, $last: Int, $before: String) {
  viewer { spaces(first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { slug } } pageInfo { hasNextPage endCursor startCursor } totalCount
  } }
}`
type Edge = { cursor: string; node: { slug: string } }

it('ROOM-15 orders one’s own spaces by when they were seen last, and tells nobody when that was', async () => {
  const person = await world.member({ space: null })
  const spaces = [await world.space(), await world.space(), await world.space()]
  for (const { slug } of spaces) await person.mutate('spaceJoin', { slug })
  const slugs = async (variables: object = {}) => {
    const list = (await person.run(OWN, variables)).viewer.spaces
    return list.edges.map(({ node }: Edge) => node.slug)
  }
  const [a, b, c] = spaces.map(({ slug }) => slug)
  expect(await slugs()).toEqual([c, b, a])

  const seen = await person.mutate('spaceSeen', { id: spaces[0]!.id }, 'space { slug }')
  expect(seen.space.slug).toBe(a)
  expect(await slugs()).toEqual([a, c, b])
  expect(await slugs()).toEqual([a, c, b]) // looking does not stamp

  const first = (await person.run(OWN, { first: 1 })).viewer.spaces
  expect(first).toMatchObject({ edges: [{ node: { slug: a } }], pageInfo: { hasNextPage: true }, totalCount: 3 })
  expect(await slugs({ first: 1, after: first.pageInfo.endCursor })).toEqual([c])
  expect(await slugs({ after: first.pageInfo.endCursor })).toEqual([c, b])
  const last = (await person.run(OWN, { last: 1 })).viewer.spaces
  expect(last.edges.map(({ node }: Edge) => node.slug)).toEqual([b])
  expect(await slugs({ last: 5, before: last.pageInfo.startCursor })).toEqual([a, c])

  // A cursor names the space and nothing else: it is the same before and after the space was seen again.
  const cursors = async () =>
    new Map((await person.run(OWN)).viewer.spaces.edges.map(({ cursor, node }: Edge) => [node.slug, cursor]))
  const before = await cursors()
  await person.mutate('spaceSeen', { id: spaces[1]!.id })
  expect(await cursors()).toEqual(before)

  const stranger = await world.otherOrg()
  const foreign = await person.send(OWN, { after: stranger.space.id })
  expect(foreign.errors?.[0]?.extensions.code).toBe('BAD_REQUEST')
  const facts = await world.sql(
    `SELECT event_type FROM platform.audit_events WHERE actor_user_id = $1 ORDER BY created_at`,
    [person.userId],
  )
  expect(facts.map(({ event_type }) => event_type)).toEqual(Array(3).fill('space.member_joined'))
})

it('ROOM-15 shows no spaces to guests and to nobody', async () => {
  const { room } = await world.pokerRoom()
  expect((await (await world.guest(room)).run(OWN)).viewer.spaces.edges).toEqual([])
  expect((await world.app.client().run(OWN)).viewer.spaces.edges).toEqual([])
  expect(await (await world.outsider()).mutate('spaceSeen', { id: world.home.id })).toMatchObject({ code: 'NOT_FOUND' })
})
