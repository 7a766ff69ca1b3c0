import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const claim = (actor: Actor, room: TestRoom) =>
  actor.mutate(
    'roomFacilitatorClaim',
    { roomId: room.id },
    'room { version facilitator { id } }',
    '... on FacilitatorPresentError { retryAfterSeconds }',
  )
const heartbeat = (actor: Actor, room: TestRoom, connectionId: string = randomUUID()) =>
  actor.mutate('roomHeartbeat', { roomId: room.id, connectionId }, 'room { version } serverNow')
const seenAgo = (room: TestRoom, seconds: number) =>
  world.sql('UPDATE rooms.rooms SET facilitator_seen_at = now() - make_interval(secs => $2) WHERE id = $1', [
    room.uuid,
    seconds,
  ])
const secondsAgo = async (room: TestRoom) => {
  const [row] = await world.sql<{ ago: number }>(
    'SELECT extract(epoch FROM clock_timestamp() - facilitator_seen_at)::float8 AS ago FROM rooms.rooms WHERE id = $1',
    [room.uuid],
  )
  return row!.ago
}
const lead = async (room: TestRoom) => (await world.owner.room(room, 'facilitator { id }')).facilitator?.id ?? null

it('ROOM-42 leaves the lead to a facilitator who was away for 30 s, and says when it can be claimed', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await seenAgo(room, 30)
  const refused = await claim(voters[0]!, room)
  expect(refused.code).toBe('FACILITATOR_PRESENT')
  expect(refused['retryAfterSeconds']).toBeGreaterThanOrEqual(20)
  expect(refused['retryAfterSeconds']).toBeLessThanOrEqual(30)
  expect(await lead(room)).toBe(host.id)
  expect(await world.facts({ room })).toEqual([])
})

it('ROOM-42 gives the lead to one of two who claim it after 61 s; the old facilitator leads no longer', async () => {
  for (let round = 0; round < 5; round++) {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    await seenAgo(room, 61)
    const claims = await Promise.all(voters.map((voter) => claim(voter, room)))
    expect(claims.map(({ __typename }) => __typename).sort()).toEqual([
      'FacilitatorPresentError',
      'RoomFacilitatorClaimPayload',
    ])
    const winner = voters[claims.findIndex(({ code }) => code === undefined)]!
    const loser = claims.find(({ code }) => code !== undefined)!
    expect(await lead(room)).toBe(winner.id)
    expect(loser['retryAfterSeconds']).toBeGreaterThanOrEqual(50)
    expect(await host.mutate('roomRename', { roomId: room.id, title: 'X' })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await world.events(room)).toEqual([
      {
        version: expect.any(String),
        type: 'FacilitatorChanged',
        payload: { facilitatorId: winner.userId, previousId: host.userId, reason: 'CLAIM' },
      },
    ])
    expect(await world.facts({ room })).toEqual(['room.facilitator_changed'])
  }
})

it('ROOM-42 leaves a co-facilitator a host when the lead is claimed', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await world.sql('UPDATE rooms.room_participants SET cofacilitator = true WHERE user_id = $1', [host.userId])
  await seenAgo(room, 61)
  await claim(voters[0]!, room)
  const renamed = await host.mutate('roomRename', { roomId: room.id, title: 'Mine still' })
  expect(renamed.__typename).toBe('RoomRenamePayload')
})

it('ROOM-42 gives a room that nobody leads to the first who claims it, and changes nothing for its facilitator', async () => {
  const { room } = await world.pokerRoom()
  const anonymous = await world.anonymous()
  await world.sql('UPDATE rooms.rooms SET facilitator_id = NULL WHERE id = $1', [room.uuid])
  const first = await claim(anonymous, room)
  expect(first).toMatchObject({ room: { facilitator: { id: anonymous.id } } })
  expect(await claim(anonymous, room)).toMatchObject({ room: { version: first.room.version } })
})

it('ROOM-40 lets nobody claim who may not host', async () => {
  const { room } = await world.pokerRoom()
  await seenAgo(room, 61)
  for (const insider of [await world.viewer(), await world.embedded(), await world.guest(room)]) {
    expect(await claim(insider, room)).toMatchObject({ code: 'FORBIDDEN' })
  }
  const admin = await world.member({ space: null, role: 'admin' })
  for (const other of [
    admin,
    await world.outsider(),
    await world.otherOrg(),
    await world.guest((await world.pokerRoom()).room),
  ]) {
    expect(await claim(other, room)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'roomId'] })
  }
})

it('ROOM-41 sees the facilitator by heartbeats and mutations, which takes no version', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await seenAgo(room, 50)
  const { version } = await host.room(room)
  await heartbeat(voters[0]!, room, await world.attend(room, voters[0]!))
  expect(await secondsAgo(room)).toBeGreaterThan(49)
  expect(await heartbeat(host, room, await world.attend(room, host))).toMatchObject({ room: { version } })
  expect(await secondsAgo(room)).toBeLessThan(5)

  await seenAgo(room, 50)
  await host.mutate('roomRename', { roomId: room.id, title: 'Seen' })
  expect(await secondsAgo(room)).toBeLessThan(5)
})

it('ROOM-22 does not take a meeting client’s heartbeat for a sign of life', async () => {
  const { room, host } = await world.pokerRoom()
  await seenAgo(room, 50)
  const embedded = await world.embedded(host)
  expect(await heartbeat(embedded, room)).toMatchObject({ __typename: 'RoomHeartbeatPayload' })
  expect(await embedded.vote(room, '5')).toMatchObject({ __typename: 'VoteCastPayload' })
  expect(await secondsAgo(room)).toBeGreaterThan(49)
})

it('ROOM-43 gives a room that nobody leads to the first who comes and may host', async () => {
  const { room } = await world.pokerRoom()
  await world.sql('UPDATE rooms.rooms SET facilitator_id = NULL WHERE id = $1', [room.uuid])
  const member = await world.member()
  for (const other of [await world.viewer(), await world.embedded(member), await world.guest(room)]) {
    await heartbeat(other, room)
    expect(await lead(room)).toBeNull()
  }
  await heartbeat(member, room)
  expect(await lead(room)).toBe(member.id)
  await heartbeat(await world.member(), room)
  expect(await lead(room)).toBe(member.id)
})

it('ROOM-43 gives it to one of several who come at once', async () => {
  const { room } = await world.pokerRoom()
  await world.sql('UPDATE rooms.rooms SET facilitator_id = NULL WHERE id = $1', [room.uuid])
  const members = await Promise.all([1, 2, 3].map(() => world.member()))
  await Promise.all(members.map((member) => heartbeat(member, room)))
  const types = (await world.events(room)).map(({ type }) => type)
  expect(types.filter((type) => type === 'FacilitatorChanged')).toHaveLength(1)
  expect(members.map(({ id }) => id)).toContain(await lead(room))
})
