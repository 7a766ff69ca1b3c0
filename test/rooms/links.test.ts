import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Actor, Asker, type Outcome, type TestRoom } from '../support/actor.ts'
import { type App, startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { startProcess } from '../support/server-process.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'

let app: App
let world: World
beforeAll(async () => {
  app = await startApp()
  world = await createWorld(app)
})
afterAll(() => world.close())

const KEY = 'browser-0123456789'
const LINK = 'link { id createdBy { id } expiresAt revokedAt redemptions }'
const REDEEMED = 'room { id version space { id } } sessionToken csrfToken'
const nobody = () => new Asker('', app.client())

const mint = (host: Actor, room: TestRoom): Promise<Outcome> =>
  host.mutate('roomLinkMint', { roomId: room.id }, `${LINK} token`, '... on LimitReachedError { limit }')
const revoke = (person: Actor, id: string): Promise<Outcome> => person.mutate('roomLinkRevoke', { id }, LINK)
const redeem = (who: Asker, token: string, guestKey = KEY, displayName = 'Guest'): Promise<Outcome> =>
  who.mutate('roomLinkRedeem', { token, displayName, guestKey, delivery: 'BEARER' }, REDEEMED)

/** A guest who came in by a link. */
async function guestBy(token: string, guestKey: string = KEY): Promise<Actor> {
  const { sessionToken, ...refused } = await redeem(nobody(), token, guestKey)
  if (!sessionToken) throw new Error(JSON.stringify(refused))
  const client = app.client(sessionToken)
  const { viewer } = (await client.run('{ viewer { user { id } } }')) as { viewer: { user: { id: string } } }
  return new Actor({ orgId: world.org.id, userId: uuidOf(viewer.user.id), sessionId: '' }, client)
}

describe('ROOM-150 minting', () => {
  it('ROOM-150 a registered host gets a token once; the database holds its digest', async () => {
    const { room, host } = await world.pokerRoom()
    const { link, token } = await mint(host, room)
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    expect(link).toMatchObject({ createdBy: { id: host.id }, revokedAt: null, redemptions: 0 })
    const [row] = await world.sql<{ same: boolean; hours: number }>(
      `SELECT token_hash = sha256($2::bytea) AS same, extract(epoch FROM expires_at - created_at)::int / 3600 AS hours
       FROM rooms.room_links WHERE id = $1`,
      [uuidOf(link.id), Buffer.from(token)],
    )
    expect(row).toEqual({ same: true, hours: 24 })
    expect(await world.facts({ room })).toContain('room_link.minted')
    expect(app.log()).not.toContain(token)
  })

  it('ROOM-150 at most 20 hold at once, also when two are made together', async () => {
    const { room, host } = await world.pokerRoom()
    const first = await mint(host, room)
    for (let at = 0; at < 18; at++) await mint(host, room)
    const last = await Promise.all([mint(host, room), mint(host, room), mint(host, room)])
    expect(last.filter(({ token }) => token)).toHaveLength(1)
    expect(last.filter(({ code, limit }) => code === 'LIMIT_REACHED' && limit === 20)).toHaveLength(2)
    await revoke(host, first.link.id)
    expect((await mint(host, room)).token).toBeTruthy()
  })

  it('ROOM-22, ROOM-150 nobody but a registered host, and not in a done room', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const stranger = await world.outsider()
    for (const person of [
      voters[0]!,
      await world.guest(room),
      await world.agent(),
      await world.viewer(),
      await world.embedded(host),
    ]) {
      expect(await mint(person, room)).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await mint(stranger, room)).toMatchObject({ code: 'NOT_FOUND' })
    const anonymous = await world.anonymous()
    const led = await world.pokerRoom({ host: anonymous })
    expect(await mint(anonymous, led.room)).toMatchObject({ code: 'FORBIDDEN' })
    await host.mutate('roomEnd', { roomId: room.id })
    expect(await mint(host, room)).toMatchObject({ code: 'ROOM_ENDED' })
  })
})

describe('ROOM-151, ROOM-152 redeeming', () => {
  it('ROOM-151 lets a guest into exactly one room, until the link ends', async () => {
    const { room, host } = await world.pokerRoom()
    const other = await world.pokerRoom({ host })
    const { link, token } = await mint(host, room)
    const redeemed = await redeem(nobody(), token)
    expect(redeemed).toMatchObject({ room: { id: room.id, space: null }, csrfToken: null })
    const guest = await guestBy(token)
    expect(await guest.room(room)).not.toBeNull()
    expect(await guest.room(other.room)).toBeNull()
    const [session] = await world.sql(
      `SELECT s.expires_at = l.expires_at AS same, l.redemptions FROM identity.sessions AS s
       JOIN rooms.room_links AS l ON l.id = s.link_id WHERE l.id = $1 LIMIT 1`,
      [uuidOf(link.id)],
    )
    expect(session).toEqual({ same: true, redemptions: 1 })
    expect(await guest.mutate('viewerUpdate', { displayName: 'Renamed' })).toMatchObject({
      __typename: 'ViewerUpdatePayload',
    })
    expect((await world.facts({ room })).filter((type) => type === 'room_link.redeemed')).toHaveLength(1)
  })

  it('ROOM-152 the same browser is the same guest, also five times at once, with five sessions at most', async () => {
    const { room, host } = await world.pokerRoom()
    const { link, token } = await mint(host, room)
    const answers = await Promise.all(Array.from({ length: 7 }, () => redeem(nobody(), token)))
    expect(answers.every(({ sessionToken }) => sessionToken)).toBe(true)
    const guests = await world.sql('SELECT user_id FROM rooms.room_guests WHERE link_id = $1', [uuidOf(link.id)])
    expect(guests).toHaveLength(1)
    const live = await world.sql('SELECT 1 FROM identity.sessions WHERE user_id = $1 AND revoked_at IS NULL', [
      guests[0]!['user_id'],
    ])
    expect(live).toHaveLength(5)
    expect((await host.room(room, 'links { redemptions }')).links).toEqual([{ redemptions: 1 }])
  })

  it('ROOM-151 of two browsers that would be the fiftieth one gets in', async () => {
    const { room, host } = await world.pokerRoom()
    const { link, token } = await mint(host, room)
    const known = await redeem(nobody(), token, `${KEY}-known`)
    await world.sql('UPDATE rooms.room_links SET redemptions = 49 WHERE id = $1', [uuidOf(link.id)])
    const last = await Promise.all([redeem(nobody(), token, `${KEY}-a`), redeem(nobody(), token, `${KEY}-b`)])
    expect(last.map(({ __typename }) => __typename).sort()).toEqual(['LinkExhaustedError', 'RoomLinkRedeemPayload'])
    expect(known.sessionToken).toBeTruthy()
    expect((await redeem(nobody(), token, `${KEY}-known`)).sessionToken).toBeTruthy()
  })

  it('ROOM-152 whoever may see the room already gets the room and stays who they are', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const { token } = await mint(host, room)
    expect(await redeem(voters[0]!, token)).toEqual(
      expect.objectContaining({ sessionToken: null, csrfToken: null, room: expect.objectContaining({ id: room.id }) }),
    )
    const guest = await guestBy(token)
    expect(await redeem(guest, token, `${KEY}-other`)).toMatchObject({ sessionToken: null, room: { id: room.id } })
    expect((await host.room(room, 'links { redemptions }')).links).toEqual([{ redemptions: 1 }])
  })

  it('ROOM-153 unknown, expired, revoked, done and gone are one answer', async () => {
    const refused = async (change: (host: Actor, room: TestRoom, linkId: string) => Promise<unknown>) => {
      const { room, host } = await world.pokerRoom()
      const { link, token } = await mint(host, room)
      await change(host, room, link.id)
      return redeem(nobody(), token)
    }
    const answers = [
      await redeem(nobody(), Buffer.alloc(32, 7).toString('base64url')),
      await redeem(nobody(), 'nothing'),
      await refused((_host, _room, id) =>
        world.sql(
          `UPDATE rooms.room_links SET created_at = now() - interval '2 days', expires_at = now() - interval '1 day' WHERE id = $1`,
          [uuidOf(id)],
        ),
      ),
      await refused((host, _room, id) => revoke(host, id)),
      await refused((host, room) => host.mutate('roomEnd', { roomId: room.id })),
      await refused((host, room) => host.mutate('roomDelete', { id: room.id })),
    ]
    // Whoever came by it and was erased since is nobody either, with the key that they had.
    const { room, host } = await world.pokerRoom()
    const { token } = await mint(host, room)
    const guest = await guestBy(token)
    expect((await guest.mutate('viewerErase', { confirm: 'Guest' })).__typename).toBe('ViewerErasePayload')
    answers.push(await redeem(nobody(), token))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'token'] })
  })

  it('ROOM-151 redeeming while the link is revoked or the room ends gives a guest who is out, or none', async () => {
    for (const end of [
      revoke,
      (host: Actor, _id: string, room: TestRoom) => host.mutate('roomEnd', { roomId: room.id }),
    ]) {
      for (let round = 0; round < 6; round++) {
        const { room, host } = await world.pokerRoom()
        const { link, token } = await mint(host, room)
        const [redeemed] = await Promise.all([redeem(nobody(), token), end(host, link.id, room)])
        const { code, sessionToken } = redeemed
        expect(sessionToken ? 'in' : code).toMatch(/^(in|NOT_FOUND)$/)
        if (!sessionToken || end !== revoke) continue
        const { errors } = await app.client(sessionToken).send('{ viewer { user { id } } }')
        expect(errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
      }
    }
  })

  it('ROOM-151 takes a key of 16 to 64 characters and a name for people', async () => {
    const { room, host } = await world.pokerRoom()
    const { token } = await mint(host, room)
    expect(await redeem(nobody(), token, 'short')).toMatchObject({ issues: [{ path: ['input', 'guestKey'] }] })
    expect(await redeem(nobody(), token, KEY, ' ')).toMatchObject({ issues: [{ path: ['input', 'displayName'] }] })
    expect(await redeem(nobody(), token, KEY, 'a\u202eb')).toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('ROOM-154 revoking', () => {
  it('ROOM-154, ROOM-76 ends the guests’ sign-ins and streams on another server, and keeps their votes', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const { link, token } = await mint(host, room)
    const guest = await guestBy(token)
    await guest.vote(room, '5')
    const elsewhere = await startProcess(app.database)
    try {
      const stream = openRoomStream({
        url: `${elsewhere.url}/graphql`,
        token: guest.client.token!,
        variables: { roomId: room.id },
      })
      await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
      const revoked = await revoke(host, link.id)
      expect(revoked.link.revokedAt).not.toBeNull()
      await vi.waitFor(() => expect(stream.closed).toBeDefined(), 3_000)
    } finally {
      await elsewhere.close()
    }
    expect((await guest.send('{ viewer { user { id } } }')).errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
    const { version } = await voters[0]!.room(room, 'version')
    expect(await revoke(host, link.id)).toMatchObject({ __typename: 'RoomLinkRevokePayload' })
    expect((await host.room(room, 'version')).version).toBe(version)
    const revealed = await host.reveal(room)
    expect(revealed.room.poker.currentStory.votes).toEqual([{ user: { id: guest.id }, card: '5' }])
    expect((await world.facts({ room })).filter((type) => type === 'room_link.revoked')).toHaveLength(1)
  })

  it('ROOM-68, ROOM-154 a round that waited for the guest alone is complete', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1, autoReveal: true })
    await world.depart(room, host)
    const { link, token } = await mint(host, room)
    const guest = await guestBy(token)
    await world.attend(room, guest)
    await voters[0]!.vote(room, '3')
    expect((await host.room(room, 'poker { revealed }')).poker.revealed).toBe(false)
    await revoke(host, link.id)
    expect((await host.room(room, 'poker { revealed }')).poker.revealed).toBe(true)
  })

  it('ROOM-154 hosts and owners may, nobody else, and of another space it is not there', async () => {
    const owner = await world.member({ space: null })
    const space = await world.space({ owner })
    const { room, host, voters } = await world.pokerRoom({ space, voters: 1 })
    const { link } = await mint(host, room)
    const guest = await guestBy((await mint(host, room)).token)
    for (const person of [voters[0]!, guest, await world.embedded(owner)]) {
      expect((await revoke(person, link.id)).code).toMatch(/^(FORBIDDEN|NOT_FOUND)$/)
      expect((await person.room(room, 'links { id }')).links).toEqual([])
    }
    expect(await revoke(await world.outsider(), link.id)).toMatchObject({ code: 'NOT_FOUND' })
    expect((await owner.room(room, 'links { id }')).links).toContainEqual({ id: link.id })
    expect(await revoke(owner, link.id)).toMatchObject({ __typename: 'RoomLinkRevokePayload' })
  })

  it('ROOM-34, ROOM-155 deleting the room ends its guests’ sign-ins', async () => {
    const { room, host } = await world.pokerRoom()
    const guest = await guestBy((await mint(host, room)).token)
    await host.mutate('roomDelete', { id: room.id })
    expect((await guest.send('{ viewer { user { id } } }')).errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
  })
})

describe('ROOM-155 guests', () => {
  it('ROOM-66, ROOM-73, ROOM-155 a guest’s completing vote reveals, but only when the members waited for have voted', async () => {
    for (const openVoting of [false, true]) {
      const { room, host, voters, stories } = await world.pokerRoom({ voters: 2, autoReveal: true, openVoting })
      const guest = await guestBy((await mint(host, room)).token)
      for (const person of [guest]) await world.attend(room, person)
      await host.mutate('roomSelect', { roomId: room.id, storyId: null })
      const opened = await host.mutate(
        'roomSelect',
        { roomId: room.id, storyId: stories[0] },
        'room { poker { roundVersion } }',
      )
      const round = { storyId: stories[0]!, roundVersion: opened.room.poker.roundVersion }
      await guest.vote(room, '5', round)
      await host.vote(room, '5', round)
      await voters[0]!.vote(room, '5', round)
      expect((await guest.room(room, 'poker { revealed }')).poker.revealed).toBe(false)
      await voters[1]!.vote(room, '8', round)
      expect((await guest.room(room, 'poker { revealed }')).poker.revealed, 'a member completes').toBe(true)

      await host.mutate('roomReset', { roomId: room.id })
      const again = { ...round, roundVersion: String(Number(round.roundVersion) + 1) }
      for (const person of [host, ...voters]) await person.vote(room, '8', again)
      expect((await guest.room(room, 'poker { revealed }')).poker.revealed).toBe(false)
      await guest.vote(room, '13', again)
      const seen = await guest.room(room, 'poker { revealed currentStory { votes { card } result { counted } } }')
      expect(seen.poker, `openVoting ${openVoting}`).toMatchObject({
        revealed: true,
        currentStory: { result: { counted: 4 } },
      })
    }
  })

  it('ROOM-154 a guest whose link was revoked in the database alone changes nothing any more', async () => {
    const { room, host } = await world.pokerRoom()
    const { link, token } = await mint(host, room)
    const guest = await guestBy(token)
    await world.sql('UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [uuidOf(link.id)])
    const { data, errors } = await guest.attempt('voteCast', { roomId: room.id, ...room.round, card: '5' })
    expect(errors?.[0]?.extensions?.['code'] ?? data?.voteCast.code).toBe('UNAUTHENTICATED')
  })
})
