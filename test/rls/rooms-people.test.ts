import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RoomsWorld } from './rooms-world.ts'

let world: RoomsWorld
let org: string
let space: string
let room: string
beforeAll(async () => {
  world = await RoomsWorld.open()
  org = await world.org()
})
beforeEach(async () => {
  space = await world.space(org)
  room = await world.room(org, space)
})
afterAll(() => world.close())

type Seat = { kind: string; spectator: boolean; can_vote: boolean; present: boolean }

/** What room_people says of somebody, or undefined where it does not name them. */
async function seat(user: string, viewer: { org?: string; room?: string } = { org }): Promise<Seat | undefined> {
  const [row] = await world.as<Seat>(
    viewer,
    'SELECT kind, spectator, can_vote, present FROM rooms.room_people($1) WHERE user_id = $2',
    [room, user],
  )
  return row
}

const mayView = async (...users: string[]) => {
  const rows = await world.as<{ id: string }>({ org }, 'SELECT rooms.room_viewers($1, $2) AS id', [room, users])
  return rows.map(({ id }) => id).sort()
}

describe('the people of a room', () => {
  it('ROOM-22 who are plain, anonymous or agents of the space, are voters', async () => {
    const voter = { kind: 'member', spectator: false, can_vote: true, present: false }
    const plain = await world.member(org, space)
    const anonymous = await world.join(await world.person(org, { account: 'anonymous' }), space)
    const agent = await world.join(await world.person(org, { account: 'agent' }), space)

    for (const { user } of [plain, anonymous, agent]) expect(await seat(user)).toEqual(voter)
  })

  it('ROOM-21 who chose to watch are spectators and cannot vote', async () => {
    const { user } = await world.member(org, space, { spectator: true })
    expect(await seat(user)).toEqual({ kind: 'member', spectator: true, can_vote: false, present: false })
  })

  it('ROOM-22 who are viewers of the org are spectators, whatever their row says', async () => {
    const viewer = await world.join(await world.person(org, { role: 'viewer' }), space)
    expect(await seat(viewer.user)).toEqual({ kind: 'member', spectator: true, can_vote: false, present: false })
  })

  it('ROOM-18 whose membership is revoked, invited anew, disabled or erased, count nowhere', async () => {
    const lose = async (text: string) => {
      const { user } = await world.member(org, space)
      await world.present(org, room, user)
      await world.owner(text, [user])
      expect(await seat(user)).toBeUndefined()
      expect(await mayView(user)).toEqual([])
    }
    await lose('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1')
    await lose('UPDATE identity.memberships SET joined_at = NULL WHERE user_id = $1')
    await lose(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`)
    await lose(`UPDATE identity.users SET status = 'erased' WHERE id = $1`)
  })

  it('ROOM-6 are members of this space, not of another, and not the admins of the org', async () => {
    const neighbour = await world.member(org, await world.space(org))
    const admin = await world.person(org, { role: 'admin' })
    for (const { user } of [neighbour, admin]) {
      expect(await seat(user)).toBeUndefined()
      expect(await mayView(user)).toEqual([])
    }
  })

  it('ROOM-150 are its guests, who vote', async () => {
    const { user } = await world.guest(org, room)
    expect(await seat(user)).toEqual({ kind: 'guest', spectator: false, can_vote: true, present: false })

    const elsewhere = await world.guest(org, await world.room(org, space))
    expect(await seat(elsewhere.user)).toBeUndefined()
  })

  it('ROOM-76 are still its guests when their link is revoked, their time over or their account erased, but vote no more', async () => {
    const end = async (text: string, column: 'user' | 'link') => {
      const guest = await world.guest(org, room)
      await world.present(org, room, guest.user)
      expect(await seat(guest.user)).toMatchObject({ can_vote: true, present: true })
      await world.owner(text, [guest[column]])
      expect(await seat(guest.user)).toEqual({ kind: 'guest', spectator: false, can_vote: false, present: false })
      expect(await mayView(guest.user)).toEqual([])
    }
    await end('UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', 'link')
    await end(`UPDATE rooms.room_guests SET expires_at = now() - interval '1 second' WHERE user_id = $1`, 'user')
    await end(`UPDATE identity.users SET status = 'erased' WHERE id = $1`, 'user')
  })

  it('ROOM-52 are present with a connection younger than 45 seconds, and with any one of several', async () => {
    const { user } = await world.member(org, space)
    await world.present(org, room, user, 46)
    expect((await seat(user))?.present).toBe(false)
    await world.present(org, room, user, 44)
    expect((await seat(user))?.present).toBe(true)
    expect(await world.as({ org }, 'SELECT FROM rooms.room_people($1)', [room])).toHaveLength(1)

    const away = await world.member(org, space)
    await world.present(org, await world.room(org, space), away.user)
    expect((await seat(away.user))?.present).toBe(false)
  })

  it('ROOM-155 are told alike to a guest of the room, who reads no member otherwise', async () => {
    const { user } = await world.member(org, space)
    const guest = await world.guest(org, room)
    expect(await world.as(guest, 'SELECT FROM rooms.space_members')).toEqual([])
    expect(await seat(user, guest)).toEqual(await seat(user))
  })

  it('PLAT-3 are told to no guest of another room, to no other org, and to nobody without an org', async () => {
    const { user } = await world.member(org, space)
    const stranger = await world.guest(org, await world.room(org, space))
    for (const viewer of [stranger, { org: await world.org() }, {}]) {
      expect(await seat(user, viewer)).toBeUndefined()
      const seen = await world.as(viewer, 'SELECT rooms.room_viewers($1, $2)', [room, [user]])
      expect(seen).toEqual([])
    }
  })
})

describe('the viewers of a room', () => {
  it('ROOM-175 are picked from those asked about, in an operation without a user', async () => {
    const member = await world.member(org, space)
    const spectator = await world.member(org, space, { spectator: true })
    const viewer = await world.join(await world.person(org, { role: 'viewer' }), space)
    const guest = await world.guest(org, room)
    const outsider = await world.person(org)
    await world.member(org, space)

    const asked = [member.user, spectator.user, viewer.user, guest.user, outsider.user]
    expect(await mayView(...asked)).toEqual([member.user, spectator.user, viewer.user, guest.user].sort())
    expect(await mayView()).toEqual([])
  })
})
