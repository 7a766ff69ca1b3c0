import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { next } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const LEAD = 'room { version facilitator { id } participants { user { id } } }'
const handOver = (person: Actor, room: TestRoom, to: { id: string }): Promise<Outcome> =>
  person.mutate('roomFacilitatorHandOver', { roomId: room.id, userId: to.id }, LEAD)
const rename = (person: Actor, room: TestRoom): Promise<Outcome> =>
  person.mutate('roomRename', { roomId: room.id, title: `By ${person.id}` })
const silent = (room: TestRoom) =>
  world.sql(`UPDATE rooms.rooms SET facilitator_seen_at = now() - interval '2 minutes' WHERE id = $1`, [room.uuid])
const leadOf = async (room: TestRoom) => {
  const [row] = await world.sql<{ id: string; ago: number }>(
    `SELECT facilitator_id AS id, extract(epoch FROM clock_timestamp() - facilitator_seen_at)::float8 AS ago
     FROM rooms.rooms WHERE id = $1`,
    [room.uuid],
  )
  return row!
}

it('ROOM-44 hands the lead to a member at once; the one who led stays participant and is no host', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const [voter] = voters as [Actor]
  await silent(room)
  const { version } = await host.room(room)
  const { room: given } = await handOver(host, room, voter)
  expect(given).toMatchObject({ version: next(version), facilitator: { id: voter.id } })
  expect(given.participants.map(({ user }: { user: { id: string } }) => user.id)).toEqual(
    expect.arrayContaining([host.id, voter.id]),
  )
  // ROOM-41: whoever gets it counts as seen now.
  expect((await leadOf(room)).ago).toBeLessThan(20)
  expect(await world.events(room)).toEqual([
    {
      version: next(version),
      type: 'FacilitatorChanged',
      payload: { facilitatorId: voter.userId, previousId: host.userId, reason: 'HANDOVER' },
    },
  ])
  const facts = await world.sql(
    'SELECT event_type, deliverable, payload, space_id FROM platform.audit_events WHERE room_id = $1',
    [room.uuid],
  )
  expect(facts).toEqual([
    {
      event_type: 'room.facilitator_changed',
      deliverable: true,
      payload: { facilitatorId: voter.userId, previousId: host.userId, reason: 'HANDOVER' },
      space_id: world.home.uuid,
    },
  ])
  expect(await rename(host, room)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await rename(voter, room)).toMatchObject({ __typename: 'RoomRenamePayload' })
})

it('ROOM-44 to a member who never came to the room, or an anonymous one; to oneself it is no change', async () => {
  const { room, host } = await world.pokerRoom()
  const absent = await world.member()
  const anonymous = await world.anonymous()
  expect(await handOver(host, room, absent)).toMatchObject({ room: { facilitator: { id: absent.id } } })
  expect(await handOver(absent, room, anonymous)).toMatchObject({ room: { facilitator: { id: anonymous.id } } })
  expect(await changes(world, room, () => handOver(anonymous, room, anonymous))).toBe(false)
})

it('ROOM-40 is the facilitator’s alone, in person; who is outside finds no room', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const [cohost] = voters as [Actor]
  await world.sql('UPDATE rooms.room_participants SET cofacilitator = true WHERE user_id = $1', [cohost.userId])
  const member = await world.member()
  const inside = [
    cohost,
    member,
    world.owner,
    await world.member({ spectator: true }),
    await world.viewer(),
    await world.anonymous(),
    await world.agent(),
    await world.guest(room),
    await world.embedded(host),
  ]
  const outside = [
    await world.member({ space: null, role: 'admin' }),
    await world.outsider(),
    await world.otherOrg(),
    await world.guest((await world.pokerRoom()).room),
  ]
  expect(
    await changes(world, room, async () => {
      for (const person of inside) expect(await handOver(person, room, member)).toMatchObject({ code: 'FORBIDDEN' })
      for (const person of outside) {
        expect(await handOver(person, room, member)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'roomId'] })
      }
    }),
  ).toBe(false)
})

it('ROOM-44 goes to nobody who may not host, and to nobody who is not there', async () => {
  const { room, host } = await world.pokerRoom()
  const guest = await world.guest(room)
  await world.attend(room, guest)
  const former = await world.member()
  await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [former.userId])
  const disabled = await world.member()
  await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled.userId])
  const away = [
    former,
    disabled,
    await world.member({ space: null }),
    await world.outsider(),
    await world.otherOrg(),
    await world.guest((await world.pokerRoom()).room),
  ]
  expect(
    await changes(world, room, async () => {
      for (const person of [guest, await world.viewer(), await world.agent()]) {
        expect(await handOver(host, room, person)).toMatchObject({ code: 'FORBIDDEN' })
      }
      for (const person of away) {
        expect(await handOver(host, room, person)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'userId'] })
      }
    }),
  ).toBe(false)
})

it('ROOM-33 a done room keeps its facilitator', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await host.mutate('roomEnd', { roomId: room.id })
  expect(
    await changes(world, room, async () => {
      expect(await handOver(host, room, voters[0]!)).toMatchObject({ code: 'ROOM_ENDED' })
    }),
  ).toBe(false)
})

it('ROOM-42, ROOM-44 of a hand-over and a claim at once the first one holds', async () => {
  for (let run = 0; run < 6; run++) {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const [heir, claimer] = voters as [Actor, Actor]
    await silent(room)
    const [given, claimed] = await Promise.all([
      handOver(host, room, heir),
      claimer.mutate('roomFacilitatorClaim', { roomId: room.id }, LEAD),
    ])
    const won = [given, claimed].filter(({ code }) => !code)
    expect(won).toHaveLength(1)
    if (given.code) expect([given.code, (await leadOf(room)).id]).toEqual(['FORBIDDEN', claimer.userId])
    else expect([claimed.code, (await leadOf(room)).id]).toEqual(['FACILITATOR_PRESENT', heir.userId])
    expect(await world.facts({ room })).toEqual(['room.facilitator_changed'])
  }
})

it('ROOM-23, ROOM-44 a hand-over waits for who is leaving, and finds them gone', async () => {
  const space = await world.space()
  const heir = await world.member({ space })
  const { room: elsewhere } = await world.pokerRoom({ space })
  await world.attend(elsewhere, heir)
  const { room, host } = await world.pokerRoom({ space })
  // They are out of the space, and on their way out of its rooms; of this one they are none of the people.
  const held = await world.hold('SELECT FROM rooms.rooms WHERE id = $1 FOR UPDATE', [elsewhere.uuid])
  const leaving = heir.mutate('spaceLeave', { id: space.id })
  await world.untilBlocked()
  const giving = handOver(host, room, heir)
  await world.untilBlocked(2)
  await held.release()
  expect(await leaving).toMatchObject({ __typename: 'SpaceLeavePayload' })
  expect(await giving).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'userId'] })
  expect((await leadOf(room)).id).toBe(host.userId)
})

it('ROOM-23, ROOM-44 whoever leaves the space as the lead goes to them leads nothing afterwards', async () => {
  for (let run = 0; run < 4; run++) {
    const space = await world.space()
    const { room, host, voters } = await world.pokerRoom({ space, voters: 1 })
    const [heir] = voters as [Actor]
    const [given] = await Promise.all([handOver(host, room, heir), heir.mutate('spaceLeave', { id: space.id })])
    if (given.code) expect(given).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'userId'] })
    expect((await leadOf(room)).id).toBe(host.userId)
  }
})
