import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { scopeOf } from '../../src/graphql/context.ts'
import {
  addGuestSession,
  createGuestSession,
  endLinkSessions,
  type GuestLink,
  newCredentials,
  touchSession,
} from '../../src/identity/index.ts'
import { newId } from '../../src/lib/type-id.ts'
import { Actor, type TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'
import { callerFor, factsAbout } from './identity-app.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world?.close())

type Link = GuestLink & { room: TestRoom; host: Actor; voters: Actor[] }

/** A room's link as rooms will hand it over, that lives for so long. */
async function newLink(lives = '24 hours', setup?: Awaited<ReturnType<World['pokerRoom']>>): Promise<Link> {
  const { room, host, voters } = setup ?? (await world.pokerRoom({ voters: 1 }))
  const linkId = newId()
  const [row] = await world.sql<{ expires: string }>(
    `INSERT INTO rooms.room_links (org_id, id, room_id, token_hash, expires_at)
     VALUES ($1, $2, $3, $4, now() + $5::interval) RETURNING expires_at::text AS expires`,
    [room.orgId, linkId, room.uuid, randomBytes(32), lives],
  )
  return { orgId: room.orgId, roomId: room.uuid, linkId, expiresAt: row!.expires, room, host, voters }
}

const CLIENT = { address: '192.0.2.9', userAgent: 'Frame/1' }
const making = () => ({ credentials: newCredentials('BEARER', { cookies: null }), client: CLIENT })
const inOrg = <T>({ orgId }: GuestLink, body: () => Promise<T>) => operation('write', { orgId }, body)

/** What redeeming a link will do, without its counting. */
async function redeem(link: Link, displayName = 'Gus'): Promise<Actor> {
  const made = making()
  const guest = await inOrg(link, () => createGuestSession(link, displayName, made))
  await world.sql(
    `INSERT INTO rooms.room_guests (org_id, user_id, room_id, link_id, guest_key_hash, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [link.orgId, guest.userId, link.roomId, link.linkId, randomBytes(32), link.expiresAt],
  )
  return new Actor(guest, world.app.client(made.credentials.token))
}

const sessionOf = async ({ sessionId }: { sessionId: string }) =>
  (
    await world.sql(
      `SELECT method, room_id, link_id, expires_at::text AS expires, revoke_reason, host(ip) AS ip
       FROM identity.sessions WHERE id = $1`,
      [sessionId],
    )
  )[0]
const holds = async ({ client }: Actor) => {
  const { data, errors } = await client.send('{ viewer { standing } }')
  if (errors) expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }])
  return data?.viewer?.standing === 'GUEST'
}

describe('a guest’s session', () => {
  it('ID-33 makes a guest of the link and a session that ends with it', async () => {
    const link = await newLink()
    const guest = await redeem(link, 'Gus Guest')
    expect(
      await world.sql('SELECT account, home_org_id, link_id, display_name, status FROM identity.users WHERE id = $1', [
        guest.userId,
      ]),
    ).toEqual([
      { account: 'guest', home_org_id: link.orgId, link_id: link.linkId, display_name: 'Gus Guest', status: 'active' },
    ])
    expect(await sessionOf(guest)).toEqual({
      method: 'guest_link',
      room_id: link.roomId,
      link_id: link.linkId,
      expires: link.expiresAt,
      revoke_reason: null,
      ip: CLIENT.address,
    })
    const facts = await world.sql(
      'SELECT event_type, room_id, actor_user_id, payload FROM platform.audit_events WHERE target_id = $1',
      [guest.sessionId],
    )
    expect(facts).toEqual([
      {
        event_type: 'session.created',
        room_id: link.roomId,
        actor_user_id: guest.userId,
        payload: { method: 'guest_link' },
      },
    ])
    expect(await guest.run('{ viewer { standing orgs { id } user { id account } } }')).toEqual({
      viewer: { standing: 'GUEST', orgs: [], user: { id: guest.id, account: 'GUEST' } },
    })
    expect(await guest.room(link.room)).toMatchObject({ id: link.room.id })
    const { room: another } = await world.pokerRoom()
    expect(await guest.room(another)).toBeNull()
  })

  it('ID-33 dies at the instant of the link, to the second, whatever its use', async () => {
    const guest = await redeem(await newLink('1 hour'))
    const end = (at: string) =>
      world.sql(
        `UPDATE identity.sessions SET expires_at = ${at}, last_seen_at = now() - interval '2 min' WHERE id = $1`,
        [guest.sessionId],
      )
    await end(`clock_timestamp() + interval '3 s'`)
    expect(await holds(guest)).toBe(true)
    const { expires } = (await sessionOf(guest)) as { expires: string }
    expect((await touchSession(await callerFor(guest)))?.getTime()).toBe(Date.parse(expires))
    expect(await sessionOf(guest)).toMatchObject({ expires })
    await end('clock_timestamp()')
    expect(await holds(guest)).toBe(false)
  })

  it.each(['', ' ', '\u202eGus', 'x'.repeat(65)])('ID-11, 33 takes no guest called %j', async (name) => {
    const link = await newLink()
    await expect(redeem(link, name)).rejects.toMatchObject({
      name: 'InvalidInputError',
      issues: [{ path: ['input', 'displayName'] }],
    })
    expect(await world.sql('SELECT id FROM identity.users WHERE link_id = $1', [link.linkId])).toEqual([])
  })

  it('ID-33 makes nobody for a link of another org or another room', async () => {
    const [link, { room }] = [await newLink(), await world.pokerRoom()]
    const foreign = await world.otherOrg()
    const wrong = [
      { ...link, orgId: foreign.orgId },
      { ...link, roomId: room.uuid },
      { ...link, linkId: newId() },
    ]
    for (const each of wrong) {
      await expect(inOrg(each, () => createGuestSession(each, 'Gus', making()))).rejects.toMatchObject({
        code: '23503',
      })
    }
    expect(await world.sql('SELECT id FROM identity.users WHERE link_id = $1', [link.linkId])).toEqual([])
  })

  it('ID-33 leaves nothing when the redemption around it fails', async () => {
    const link = await newLink()
    const redemption = inOrg(link, async () => {
      await createGuestSession(link, 'Gus', making())
      throw new Error('the link is exhausted')
    })
    await expect(redemption).rejects.toThrow('the link is exhausted')
    expect(await world.sql('SELECT id FROM identity.users WHERE link_id = $1', [link.linkId])).toEqual([])
    expect(await world.sql('SELECT id FROM identity.sessions WHERE link_id = $1', [link.linkId])).toEqual([])
  })

  it('ID-12, 33 stays a guest’s when the room of the link is deleted, and holds no longer', async () => {
    const link = await newLink()
    const guest = await redeem(link)
    const url = `${world.app.url}/graphql`
    const stream = openRoomStream({ url, token: guest.client.token!, variables: { roomId: link.room.id } })
    await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
    expect(await link.host.mutate('roomDelete', { id: link.room.id })).toMatchObject({
      __typename: 'RoomDeletePayload',
    })
    expect(
      await world.sql('SELECT account, link_id, home_org_id FROM identity.users WHERE id = $1', [guest.userId]),
    ).toEqual([{ account: 'guest', link_id: null, home_org_id: link.orgId }])
    expect(await holds(guest)).toBe(false)
    expect(await sessionOf(guest)).toBeUndefined()
    await expect.poll(() => stream.closed).toBeTruthy()
    stream.close()
  })
})

describe('a further session of a guest', () => {
  it('ROOM-152 is the same guest’s, and the oldest beyond five ends, however many begin at once', async () => {
    const link = await newLink()
    const guest = await redeem(link)
    const made = await Promise.all(
      Array.from({ length: 7 }, () => inOrg(link, () => addGuestSession(link, guest.userId, making()))),
    )
    expect(made.map(({ userId }) => userId)).toEqual(Array(7).fill(guest.userId))
    const live = await world.sql(
      'SELECT id FROM identity.sessions WHERE user_id = $1 AND revoked_at IS NULL ORDER BY created_at, id',
      [guest.userId],
    )
    expect(live).toHaveLength(5)
    expect(await holds(guest)).toBe(false) // the first one was the oldest
    const ended = await world.sql(
      `SELECT count(*)::int AS ended FROM platform.audit_events
       WHERE event_type = 'session.revoked' AND room_id = $1 AND payload ->> 'reason' = 'limit'`,
      [link.roomId],
    )
    expect(ended).toEqual([{ ended: 3 }])
  })

  it('ROOM-152 is nobody’s who came through another link, or is no guest', async () => {
    const [link, another] = [await newLink(), await newLink()]
    const [guest, member] = [await redeem(another), await world.member()]
    for (const { userId } of [guest, member, { userId: newId() }]) {
      await expect(inOrg(link, () => addGuestSession(link, userId, making()))).rejects.toMatchObject({
        name: 'NotFoundError',
      })
    }
    expect(await world.sql('SELECT id FROM identity.sessions WHERE link_id = $1', [link.linkId])).toEqual([])
  })
})

describe('ending the sessions of a link', () => {
  it('ID-33 ends all of the link’s and of no other, within a second, and leaves what the guests did', async () => {
    const setup = await world.pokerRoom({ voters: 1 })
    const [link, another] = [await newLink('24 hours', setup), await newLink('24 hours', setup)]
    const [one, two, other] = [await redeem(link), await redeem(link), await redeem(another)]
    const { room, host } = link
    const url = `${world.app.url}/graphql`
    const streams = [one, other].map(({ client }) =>
      openRoomStream({ url, token: client.token!, variables: { roomId: room.id } }),
    )
    for (const stream of streams) await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
    expect(await one.vote(room, '5')).toMatchObject({ __typename: 'VoteCastPayload' })
    const caller = await callerFor(host)
    const revoke = () => operation('write', scopeOf(caller), () => endLinkSessions(link, caller))

    await revoke()
    expect([await holds(one), await holds(two), await holds(other)]).toEqual([false, false, true])
    await expect.poll(() => streams[0]!.closed, { timeout: 3_000 }).toBeTruthy()
    expect(streams[1]!.closed).toBeUndefined()
    expect(await sessionOf(one)).toMatchObject({ revoke_reason: 'link' })
    for (const guest of [one, two]) {
      expect(await factsAbout(world, guest.sessionId)).toMatchObject([
        { type: 'session.created' },
        { type: 'session.revoked', actorUserId: host.userId, payload: { userId: guest.userId, reason: 'link' } },
      ])
    }
    expect(await world.sql('SELECT card FROM rooms.votes WHERE user_id = $1', [one.userId])).toEqual([{ card: '5' }])
    expect(await world.sql('SELECT account FROM identity.users WHERE id = $1', [one.userId])).toEqual([
      { account: 'guest' },
    ])

    await revoke() // again: nothing
    expect(await factsAbout(world, one.sessionId)).toHaveLength(2)
    for (const stream of streams) stream.close()
  })

  it('ID-33 ends none of them when the transaction around it fails', async () => {
    const link = await newLink()
    const [one, two] = [await redeem(link), await redeem(link)]
    const caller = await callerFor(link.host)
    const failing = operation('write', scopeOf(caller), async () => {
      await endLinkSessions(link, caller)
      throw new Error('the link could not be revoked')
    })
    await expect(failing).rejects.toThrow('the link could not be revoked')
    expect([await holds(one), await holds(two)]).toEqual([true, true])
    expect(await factsAbout(world, one.sessionId)).toHaveLength(1)
  })

  it('ID-33 ends nothing of another org', async () => {
    const link = await newLink()
    const guest = await redeem(link)
    const foreign = await callerFor(await world.otherOrg())
    await operation('write', scopeOf(foreign), () => endLinkSessions({ ...link, orgId: foreign.orgId }, foreign))
    await operation('write', scopeOf(foreign), () => endLinkSessions(link, foreign))
    expect(await holds(guest)).toBe(true)
  })
})
