import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const MEMBER = 'member { role spectator user { id } }'
const roles = async ({ uuid }: TestSpace) => {
  const rows = await world.sql<{ user_id: string; role: string }>(
    'SELECT user_id, role FROM rooms.space_members WHERE space_id = $1',
    [uuid],
  )
  return new Map(rows.map(({ user_id, role }) => [user_id, role]))
}
const setRole = (by: Actor, space: TestSpace, to: Actor, role: 'OWNER' | 'MEMBER') =>
  by.mutate('spaceMemberRoleSet', { id: space.id, userId: to.id, role }, MEMBER)

async function agent(): Promise<{ id: string; userId: string }> {
  const userId = newId()
  await world.sql(
    `INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
     VALUES ($1, 'agent', 'agent', $2, 'Robot', 'active')`,
    [userId, world.org.id],
  )
  return { id: encodeId('User', userId), userId }
}

describe('ROOM-16', () => {
  it('ROOM-16 lets owners add people and agents of the org, once', async () => {
    const space = await world.space()
    const [person, anonymous, robot] = [
      await world.member({ space: null }),
      await world.anonymous({ space: null }),
      await agent(),
    ]
    const add = (userId: string, more: object = {}) =>
      world.owner.mutate('spaceMemberAdd', { id: space.id, userId, ...more }, MEMBER)
    expect(await add(person.id, { spectator: true })).toMatchObject({ member: { role: 'MEMBER', spectator: true } })
    expect(await add(anonymous.id)).toMatchObject({ member: { spectator: false, user: { id: anonymous.id } } })
    expect(await add(robot.id)).toMatchObject({ member: { spectator: true } })
    expect(await add(person.id)).toMatchObject({ member: { spectator: true } })
    expect(await world.facts({ space })).toEqual(Array(3).fill('space.member_added'))
    expect((await person.run('{ viewer { spaces { nodes { id } } } }')).viewer.spaces.nodes).toEqual([{ id: space.id }])
  })

  it('ROOM-16 knows nobody who is not of the org', async () => {
    const { room } = await world.pokerRoom()
    const invited = await world.member({ space: null })
    await world.sql('UPDATE identity.memberships SET joined_at = NULL WHERE user_id = $1', [invited.userId])
    const disabled = await world.member({ space: null })
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled.userId])
    const strangers = [await world.otherOrg(), await world.guest(room), invited, disabled]
    for (const { id } of [...strangers, { id: encodeId('User', newId()) }]) {
      const refused = await world.owner.mutate('spaceMemberAdd', { id: world.home.id, userId: id })
      expect(refused).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'userId'] })
    }
  })

  it('ROOM-16 is for owners: members may nothing, others see nothing', async () => {
    const space = await world.space()
    const [member, target] = [await world.member({ space }), await world.member({ space })]
    const calls = (actor: Actor) => [
      actor.mutate('spaceUpdate', { id: space.id, name: 'X' }),
      actor.mutate('spaceMemberAdd', { id: space.id, userId: target.id }),
      actor.mutate('spaceMemberRoleSet', { id: space.id, userId: target.id, role: 'OWNER' }),
      actor.mutate('spaceMemberRemove', { id: space.id, userId: target.id }),
    ]
    const codes = async (actor: Actor) => (await Promise.all(calls(actor))).map(({ code }) => code)
    const viewer = await world.viewer({ space, spaceRole: 'owner' })
    for (const insider of [member, viewer, await world.anonymous({ space }), await world.embedded()]) {
      expect(await codes(insider)).toEqual(Array(4).fill('FORBIDDEN'))
    }
    const { room } = await world.pokerRoom({ space })
    const admin = await world.member({ space: null, role: 'admin' })
    for (const other of [admin, await world.outsider(), await world.otherOrg(), await world.guest(room)]) {
      expect(await codes(other)).toEqual(Array(4).fill('NOT_FOUND'))
    }
    expect(await world.facts({ space })).toEqual([])
  })

  it('ROOM-22 makes no anonymous person, agent or viewer an owner', async () => {
    const space = await world.space()
    const robot = await agent()
    await world.owner.mutate('spaceMemberAdd', { id: space.id, userId: robot.id })
    for (const { id } of [await world.anonymous({ space }), await world.viewer({ space }), robot]) {
      const refused = await world.owner.mutate('spaceMemberRoleSet', { id: space.id, userId: id, role: 'OWNER' })
      expect(refused).toMatchObject({ code: 'FORBIDDEN' })
    }
  })
})

describe('ROOM-17', () => {
  it('ROOM-17 sets roles, and keeps the last owner', async () => {
    const space = await world.space()
    const [second, outsider] = [await world.member({ space }), await world.outsider()]
    expect(await setRole(world.owner, space, world.owner, 'MEMBER')).toMatchObject({ code: 'LAST_OWNER' })
    const removed = await world.owner.mutate('spaceMemberRemove', { id: space.id, userId: world.owner.id })
    expect(removed).toMatchObject({ code: 'LAST_OWNER' })
    expect(await world.owner.mutate('spaceLeave', { id: space.id })).toMatchObject({ code: 'LAST_OWNER' })

    expect(await setRole(world.owner, space, second, 'OWNER')).toMatchObject({ member: { role: 'OWNER' } })
    expect(await setRole(world.owner, space, second, 'OWNER')).toMatchObject({ member: { role: 'OWNER' } })
    expect(await setRole(second, space, world.owner, 'MEMBER')).toMatchObject({ member: { role: 'MEMBER' } })
    expect(await setRole(second, space, outsider, 'OWNER')).toMatchObject({ code: 'NOT_FOUND' })
    expect(await world.facts({ space })).toEqual(['space.member_role_set', 'space.member_role_set'])
  })

  it('ROOM-17 counts owners with standing only', async () => {
    const space = await world.space()
    const second = await world.member({ space, spaceRole: 'owner' })
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [second.userId])
    expect(await world.owner.mutate('spaceLeave', { id: space.id })).toMatchObject({ code: 'LAST_OWNER' })
  })

  it('ROOM-17 lets one of two owners who demote each other at once succeed', async () => {
    for (const order of [0, 1]) {
      const space = await world.space()
      const second = await world.member({ space, spaceRole: 'owner' })
      const held = await world.hold('SELECT FROM rooms.space_members WHERE space_id = $1 FOR UPDATE', [space.uuid])
      const pairs = [
        () => setRole(world.owner, space, second, 'MEMBER'),
        () => setRole(second, space, world.owner, 'MEMBER'),
      ]
      const both = Promise.all((order ? pairs.reverse() : pairs).map((demote) => demote()))
      await world.untilBlocked(2)
      await held.release()
      const codes = (await both).map(({ __typename }) => __typename).sort()
      expect(codes).toEqual(['LastOwnerError', 'SpaceMemberRoleSetPayload'])
      expect([...(await roles(space)).values()].sort()).toEqual(['member', 'owner'])
    }
  })

  it('ROOM-17 lets an owner decide nothing once they are demoted', async () => {
    const space = await world.space()
    const [second, third] = [
      await world.member({ space, spaceRole: 'owner' }),
      await world.member({ space, spaceRole: 'owner' }),
    ]
    const held = await world.hold('UPDATE rooms.space_members SET role = $2 WHERE user_id = $1', [
      second.userId,
      'member',
    ])
    const late = second.mutate('spaceMemberRemove', { id: space.id, userId: third.id })
    await world.untilBlocked()
    await held.release()
    expect(await late).toMatchObject({ code: 'FORBIDDEN' })
    expect((await roles(space)).get(third.userId)).toBe('owner')
  })

  it('ROOM-17 keeps the last owner of two who leave at once', async () => {
    const space = await world.space()
    const second = await world.member({ space, spaceRole: 'owner' })
    const left = await Promise.all([world.owner, second].map((owner) => owner.mutate('spaceLeave', { id: space.id })))
    expect(left.map(({ __typename }) => __typename).sort()).toEqual(['LastOwnerError', 'SpaceLeavePayload'])
    expect([...(await roles(space)).values()]).toEqual(['owner'])
  })
})

describe('members', () => {
  const MEMBERS =
    'query ($id: ID!) { space(id: $id) { members { totalCount nodes { role spectator user { id } } } abandoned } }'

  it('lists those who count, in the order they joined', async () => {
    const space = await world.space()
    const [member, viewer] = [await world.member({ space }), await world.viewer({ space })]
    const anonymous = await world.anonymous({ space, spectator: true })
    const gone = await world.member({ space })
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [gone.userId])
    const { members } = (await member.run(MEMBERS, { id: space.id })).space
    expect(members).toEqual({
      totalCount: 4,
      nodes: [
        { role: 'OWNER', spectator: false, user: { id: world.owner.id } },
        { role: 'MEMBER', spectator: false, user: { id: member.id } },
        { role: 'MEMBER', spectator: true, user: { id: viewer.id } },
        { role: 'MEMBER', spectator: true, user: { id: anonymous.id } },
      ],
    })
  })

  it('ROOM-18 calls a space abandoned when none of its owners counts, to members and admins', async () => {
    const owner = await world.member({ space: null })
    const space = await world.space({ owner })
    const [member, admin] = [await world.member({ space }), await world.member({ space: null, role: 'admin' })]
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [owner.userId])
    expect((await member.run(MEMBERS, { id: space.id })).space.abandoned).toBe(true)
    const directory = `{ spaces { nodes { id abandoned } } }`
    const seenBy = async (actor: Actor) =>
      (await actor.run(directory)).spaces.nodes.find(({ id }: { id: string }) => id === space.id).abandoned
    expect(await seenBy(admin)).toBe(true)
    expect(await seenBy(await world.outsider())).toBeNull()
  })
})
