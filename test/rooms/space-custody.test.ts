import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'

let world: World
let admin: Actor
beforeAll(async () => {
  world = await createWorld(await startApp())
  admin = await world.member({ role: 'admin', space: null })
})
afterAll(() => world?.close())

const SPACE =
  'space { id slug name archivedAt abandoned myRole passcode members { nodes { role } } rooms { nodes { id } } }'

const isListed = async (space: TestSpace, by = world.owner, includeArchived = false): Promise<boolean> => {
  const query = `query ($slug: String!, $all: Boolean) {
    spaces(filter: { slug: { eq: $slug } }, includeArchived: $all) { nodes { slug } } }`
  const { spaces } = await by.run(query, { slug: space.slug, all: includeArchived })
  return spaces.nodes.length === 1
}

/** A space whose only owner has no standing any more. */
async function abandonedSpace(): Promise<TestSpace & { former: Actor }> {
  const former = await world.member({ space: null })
  const space = await world.space({ owner: former, passcode: 'sesame' })
  const revoked = await world.owner.mutate('memberRevoke', { userId: former.id })
  expect(revoked.__typename).toBe('MemberRevokePayload')
  return { ...space, former }
}

const rolesIn = async (space: TestSpace) => {
  const rows = await world.sql<{ user_id: string; role: string }>(
    'SELECT user_id, role FROM rooms.space_members WHERE space_id = $1',
    [space.uuid],
  )
  return Object.fromEntries(rows.map(({ user_id, role }) => [user_id, role]))
}
const factsIn = (space: TestSpace) =>
  world.sql(
    `SELECT event_type AS type, category, durable, deliverable, space_slug AS slug, actor_user_id AS actor, payload
     FROM platform.audit_events WHERE space_id = $1 AND durable ORDER BY created_at, id`,
    [space.uuid],
  )

describe('archiving', () => {
  it('ROOM-13, ID-60 hides a space from the directory and changes nothing else', async () => {
    const space = await world.space({ passcode: 'sesame' })
    const member = await world.member({ space })
    const { room } = await world.pokerRoom({ space })
    const archived = await admin.mutate('spaceArchive', { id: space.id }, SPACE)
    expect(archived.space).toMatchObject({ slug: space.slug, archivedAt: expect.any(String), myRole: null })
    expect(await isListed(space)).toBe(false)
    expect(await isListed(space, admin, true)).toBe(true)

    const seen = await member.run('query ($id: ID!) { space(id: $id) { slug passcode rooms { nodes { id } } } }', {
      id: space.id,
    })
    expect(seen.space).toEqual({ slug: space.slug, passcode: 'sesame', rooms: { nodes: [{ id: room.id }] } })
    const newcomer = await world.member({ space: null })
    expect(await newcomer.mutate('spaceJoin', { slug: space.slug, passcode: 'sesame' })).toMatchObject({
      __typename: 'SpaceJoinPayload',
    })
    expect(await member.mutate('roomCreate', newRoom(space))).toMatchObject({ __typename: 'RoomCreatePayload' })

    await admin.mutate('spaceArchive', { id: space.id })
    const back = await admin.mutate('spaceUnarchive', { id: space.id }, SPACE)
    expect(back.space.archivedAt).toBeNull()
    await admin.mutate('spaceUnarchive', { id: space.id })
    expect(await isListed(space)).toBe(true)
    const fact = { category: 'audit_only', durable: true, deliverable: false, slug: space.slug, actor: admin.userId }
    expect(await factsIn(space)).toEqual([
      { ...fact, type: 'space.archived', payload: {} },
      { ...fact, type: 'space.unarchived', payload: {} },
    ])
  })

  it('ROOM-12 shows archived spaces to admins alone', async () => {
    const answer = await (await world.member()).send('{ spaces(includeArchived: true) { totalCount } }')
    expect(answer.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
  })
})

describe('claiming', () => {
  it('ROOM-19, ID-61 makes an admin the owner of an abandoned space, and so lets them see it', async () => {
    const space = await abandonedSpace()
    const { room } = await world.pokerRoom({ space })
    expect((await admin.room(room)) as unknown).toBeNull()
    const claimed = await admin.mutate('spaceClaim', { id: space.id }, SPACE)
    expect(claimed.space).toMatchObject({ myRole: 'OWNER', abandoned: false, passcode: 'sesame' })
    expect((await admin.room(room)) as unknown).toMatchObject({ id: room.id })
    expect(await factsIn(space)).toMatchObject([
      { type: 'space.claimed', category: 'audit_only', slug: space.slug, payload: { userId: admin.userId } },
    ])
  })

  it('ID-61 gives a space to one of two admins at once, and refuses the other', async () => {
    const other = await world.member({ role: 'admin', space: null })
    for (let round = 0; round < 10; round++) {
      const space = await abandonedSpace()
      const claims = await Promise.all([admin, other].map((by) => by.mutate('spaceClaim', { id: space.id })))
      expect(claims.map(({ __typename, code }) => code ?? __typename).toSorted()).toEqual([
        'FORBIDDEN',
        'SpaceClaimPayload',
      ])
      expect(Object.values(await rolesIn(space))).toEqual(['owner'])
      expect(await factsIn(space)).toHaveLength(1)
    }
  })

  it('ID-61 makes a member an owner too, and takes an owner who is disabled for none', async () => {
    const owner = await world.member({ space: null })
    const space = await world.space({ owner })
    await world.join(admin, { space, spectator: true })
    expect(await admin.mutate('spaceClaim', { id: space.id })).toMatchObject({ code: 'FORBIDDEN' })
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [owner.userId])
    expect(await admin.mutate('spaceClaim', { id: space.id })).toMatchObject({ __typename: 'SpaceClaimPayload' })
    expect(await rolesIn(space)).toEqual({ [owner.userId]: 'owner', [admin.userId]: 'owner' })
  })

  it('ID-61 refuses a space with an active owner to an owner of the org too, and changes nothing', async () => {
    const space = await world.space({ owner: await world.member({ space: null }) })
    expect(await world.owner.mutate('spaceClaim', { id: space.id })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await factsIn(space)).toEqual([])
  })

  it('ID-61 gives nothing to an admin who is none any more when their turn comes', async () => {
    const space = await abandonedSpace()
    const late = await world.member({ role: 'admin', space: null })
    const held = await world.hold(`UPDATE identity.memberships SET role = 'member' WHERE user_id = $1`, [late.userId])
    const claim = late.mutate('spaceClaim', { id: space.id })
    await world.untilBlocked()
    await held.release()
    expect(await claim).toMatchObject({ code: 'FORBIDDEN' })
    expect(await rolesIn(space)).toEqual({})
  })
})

describe('adding an owner', () => {
  it('ROOM-19, ID-62 makes a member the owner without the admin coming in', async () => {
    const space = await world.space()
    const member = await world.member({ space })
    const added = await admin.mutate('spaceAddOwner', { id: space.id, userId: member.id }, SPACE)
    expect(added.space).toMatchObject({ myRole: null, passcode: null, members: { nodes: [] }, rooms: { nodes: [] } })
    expect(await rolesIn(space)).toEqual({ [world.owner.userId]: 'owner', [member.userId]: 'owner' })
    await admin.mutate('spaceAddOwner', { id: space.id, userId: member.id })
    expect(await factsIn(space)).toMatchObject([{ type: 'space.owner_added', payload: { userId: member.userId } }])
  })

  it('ROOM-19, ROOM-22 refuses whoever is no member of the space, and whoever may own none', async () => {
    const space = await world.space()
    const [stranger, elsewhere] = [await world.otherOrg(), await world.outsider()]
    for (const { id } of [stranger, elsewhere, admin]) {
      expect(await admin.mutate('spaceAddOwner', { id: space.id, userId: id })).toMatchObject({
        code: 'NOT_FOUND',
        path: ['input', 'userId'],
      })
    }
    for (const { id } of [await world.viewer({ space }), await world.anonymous({ space })]) {
      expect(await admin.mutate('spaceAddOwner', { id: space.id, userId: id })).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await factsIn(space)).toEqual([])
  })

  it('ROOM-19 waits for whoever is being removed, and finds them gone', async () => {
    const space = await world.space()
    const member = await world.member({ space })
    const held = await world.hold('DELETE FROM rooms.space_members WHERE user_id = $1', [member.userId])
    const adding = admin.mutate('spaceAddOwner', { id: space.id, userId: member.id })
    await world.untilBlocked()
    await held.release()
    expect(await adding).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('deleting', () => {
  it('ROOM-20, ID-62 removes a space with all in it, ends its streams, and keeps its record', async () => {
    const space = await world.space()
    const { room, host, voters } = await world.pokerRoom({ space, voters: 1 })
    await voters[0]!.vote(room, '5')
    const guest = await world.guest(room)
    const streams = [host, guest].map(({ client }) =>
      openRoomStream({ url: `${world.app.url}/graphql`, token: client.token!, variables: { roomId: room.id } }),
    )
    await Promise.all(streams.map((stream) => stream.next(({ __typename }) => __typename === 'RoomSnapshot')))

    const deleted = await admin.mutate('spaceDelete', { id: space.id, confirmSlug: space.slug }, 'spaceId slug')
    expect(deleted).toMatchObject({ spaceId: space.id, slug: space.slug })
    const since = Date.now()
    for (const stream of streams) await expect.poll(() => stream.closed, { interval: 5 }).toBeTruthy()
    expect(Date.now() - since).toBeLessThan(1_000)
    for (const stream of streams) stream.close()
    for (const table of ['rooms', 'stories', 'votes', 'room_events', 'room_links', 'room_guests']) {
      expect(
        await world.sql(`SELECT FROM rooms.${table} WHERE ${table === 'rooms' ? 'id' : 'room_id'} = $1`, [room.uuid]),
        table,
      ).toEqual([])
    }
    expect(await rolesIn(space)).toEqual({})
    expect((await guest.send('{ viewer { standing } }')).errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED' } },
    ])
    expect(await factsIn(space)).toMatchObject([
      { type: 'space.deleted', slug: space.slug, actor: admin.userId, payload: { slug: space.slug } },
    ])
    const log = await admin.run(
      `query ($id: ID!) { auditEvents(filter: { targetId: { eq: $id } }) { nodes { type targetId target { id } spaceSlug } } }`,
      { id: space.id },
    )
    expect(log.auditEvents.nodes).toEqual([
      { type: 'space.deleted', targetId: space.id, target: null, spaceSlug: space.slug },
    ])
    // The slug is free again.
    expect(await host.mutate('spaceCreate', { slug: space.slug, name: 'Anew' })).toMatchObject({
      __typename: 'SpaceCreatePayload',
    })
  })

  it('ROOM-20 is for owners of the space and admins of the org, by its slug', async () => {
    const owner = await world.member({ space: null })
    const space = await world.space({ owner })
    const input = { id: space.id, confirmSlug: space.slug }
    const refused: [Actor, string][] = [
      [await world.member({ space }), 'FORBIDDEN'],
      [await world.embedded(owner), 'FORBIDDEN'],
      [await world.outsider(), 'NOT_FOUND'],
      [await world.otherOrg(), 'NOT_FOUND'],
    ]
    for (const [actor, code] of refused) expect(await actor.mutate('spaceDelete', input)).toMatchObject({ code })
    for (const confirmSlug of ['', world.home.slug, space.slug.toUpperCase()]) {
      expect(await owner.mutate('spaceDelete', { ...input, confirmSlug })).toMatchObject({
        code: 'INVALID_INPUT',
        issues: [{ path: ['input', 'confirmSlug'] }],
      })
    }
    expect(await owner.mutate('spaceDelete', input)).toMatchObject({ __typename: 'SpaceDeletePayload' })
  })

  it('ROOM-20 lets nobody make a room in a space that is going', async () => {
    const space = await world.space()
    const member = await world.member({ space })
    const held = await world.hold('DELETE FROM rooms.spaces WHERE id = $1', [space.uuid])
    const making = member.mutate('roomCreate', newRoom(space))
    await world.untilBlocked()
    await held.release()
    expect(await making).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('ROOM-20 deletes once of two at once, and takes no word of an owner who was demoted meanwhile', async () => {
    const space = await world.space()
    const input = { id: space.id, confirmSlug: space.slug }
    const both = await Promise.all([admin, world.owner].map((by) => by.mutate('spaceDelete', input)))
    expect(both.map(({ __typename, code }) => code ?? __typename).toSorted()).toEqual([
      'NOT_FOUND',
      'SpaceDeletePayload',
    ])
    expect(await factsIn(space)).toHaveLength(1)

    const kept = await world.space()
    const second = await world.member({ space: kept, spaceRole: 'owner' })
    const held = await world.hold(`UPDATE rooms.space_members SET role = 'member' WHERE user_id = $1`, [second.userId])
    const deleting = second.mutate('spaceDelete', { id: kept.id, confirmSlug: kept.slug })
    await world.untilBlocked()
    await held.release()
    expect(await deleting).toMatchObject({ code: 'FORBIDDEN' })
    expect(Object.keys(await rolesIn(kept))).toHaveLength(2)
  })
})

it('ROOM-6, ID-62 custody opens no room: admins see a space as the directory shows it', async () => {
  const space = await world.space()
  const { room } = await world.pokerRoom({ space })
  const { spaces } = await admin.run(
    `query ($slug: String!) { spaces(filter: { slug: { eq: $slug } }) { nodes {
      slug name hasPasscode archivedAt abandoned passcode myRole members { totalCount } rooms { totalCount } decks { id } } } }`,
    { slug: space.slug },
  )
  expect(spaces.nodes).toEqual([
    {
      slug: space.slug,
      name: `Space ${space.slug}`,
      hasPasscode: false,
      archivedAt: null,
      abandoned: false,
      passcode: null,
      myRole: null,
      members: { totalCount: 0 },
      rooms: { totalCount: 0 },
      decks: [],
    },
  ])
  expect(await admin.room(room)).toBeNull()
})

const newRoom = ({ id }: TestSpace) => ({
  spaceId: id,
  kind: 'poker',
  title: 'Planning',
  config: { poker: { deck: { preset: 'FIBONACCI' }, autoReveal: false, openVoting: false } },
})
