import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { prisma } from '../../src/db/prisma.ts'
import { type ProjectionForm, type RecordedEvent, rowsReader } from '../../src/platform/audit/projection.ts'
import { eventType } from '../../src/platform/audit/registry.ts'
import { fireDueRooms } from '../../src/rooms/room/fire-due-rooms.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'
import { put, standup } from './standup-circle.ts'

let world: World
let space: TestSpace
beforeAll(async () => {
  world = await createWorld(await startApp())
  space = await world.space()
})
afterAll(() => world.close())

const closedIn = async ({ orgId, uuid }: TestRoom): Promise<RecordedEvent[]> =>
  operation('read', { orgId }, () =>
    prisma.auditEvent.findMany({ where: { eventType: 'standup.closed', roomId: uuid }, orderBy: { id: 'asc' } }),
  ) as Promise<RecordedEvent[]>
// biome-ignore lint/suspicious/noExplicitAny: a projection is JSON
const projected = (event: RecordedEvent, form: ProjectionForm): Promise<any> =>
  operation('read', { orgId: event.orgId }, async () =>
    eventType(event.eventType)!.projection(event, form, rowsReader(event.orgId)),
  )
const end = (host: Actor, room: TestRoom) => host.mutate('roomEnd', { roomId: room.id })

it('ROOM-180, ROOM-182 the first end of a standup says how many could have answered and how many did, later ends nothing', async () => {
  const { room, host, people } = await standup(world, { people: 3, space: await world.space() })
  const [answered, blank, watcher] = people as [Actor, Actor, Actor]
  const guest = await world.guest(room)
  for (const person of [answered, watcher, guest]) await put(person, room, { today: 'Work' })
  await blank.mutate('standupReadySet', { roomId: room.id, ready: true })
  await world.sql('UPDATE rooms.space_members SET spectator = true WHERE user_id = $1', [watcher.userId])
  await world.sql(`UPDATE identity.memberships SET role = 'viewer' WHERE user_id = $1`, [blank.userId])
  await end(host, room)
  // The owner, the host and who answered: a spectator, a viewer and a guest do not count.
  const [event] = await closedIn(room)
  expect(event).toMatchObject({
    payload: { slotDate: null, eligible: 3, answered: 1 },
    category: 'activity',
    deliverable: true,
  })
  expect((await world.facts({ room })).slice(-2)).toEqual(['room.ended', 'standup.closed'])

  await host.mutate('roomReopen', { roomId: room.id })
  await put(host, room, { today: 'Late' })
  await end(host, room)
  expect(await closedIn(room)).toHaveLength(1)
  expect((await world.facts({ room })).filter((type) => type === 'room.ended')).toHaveLength(2)
})

it('ROOM-182 two ends at once close it once, and poker closes no standup', async () => {
  const { room, host } = await standup(world, { space })
  await Promise.all([end(host, room), end(world.owner, room)])
  expect(await closedIn(room)).toHaveLength(1)
  const { room: poker, host: player } = await world.pokerRoom({ space })
  await end(player, poker)
  expect(await world.facts({ room: poker })).toEqual(['room.ended'])
})

it('ROOM-127, ROOM-182 the end of its window closes it, by the system', async () => {
  const { room, host } = await standup(world, { space: await world.space(), async: true })
  await put(host, room, { today: 'Work' })
  await world.sql(`UPDATE rooms.rooms SET closes_at = now() - interval '1 second' WHERE id = $1`, [room.uuid])
  await fireDueRooms((work) => work())
  const [event] = await closedIn(room)
  expect(event).toMatchObject({ actorKind: 'system', payload: { slotDate: null, eligible: 2, answered: 1 } })
})

it('ROOM-183 the space is told what everybody wrote, the org figures alone', async () => {
  const { room, host, people } = await standup(world, { people: 1, space })
  const guest = await world.guest(room)
  await put(host, room, { yesterday: 'Slept', blockers: 'None' })
  await put(guest, room, { today: 'Visit' })
  await people[0]!.mutate('standupReadySet', { roomId: room.id, ready: true })
  await end(host, room)
  const [event] = (await closedIn(room)) as [RecordedEvent]
  const nameOf = async ({ userId }: Actor) =>
    (await world.sql('SELECT display_name AS name FROM identity.users WHERE id = $1', [userId]))[0]!['name']
  const told = await projected(event, 'space')
  expect(told).toMatchObject({ space: { id: space.id }, room: { id: room.id, kind: 'standup', title: 'Standup' } })
  expect(told.entries).toEqual([
    {
      user: { id: host.id, displayName: await nameOf(host), guest: false },
      yesterday: 'Slept',
      today: '',
      blockers: 'None',
    },
    {
      user: { id: guest.id, displayName: await nameOf(guest), guest: true },
      yesterday: '',
      today: 'Visit',
      blockers: '',
    },
  ])
  expect(told).not.toHaveProperty('entriesTruncated')
  expect(await projected(event, 'org')).toEqual({
    ...(event.payload as object),
    space: told.space,
    room: { id: room.id, kind: 'standup' },
  })

  await world.sql('DELETE FROM rooms.rooms WHERE id = $1', [room.uuid])
  expect(await projected(event, 'space')).toEqual({ ...(event.payload as object), space: told.space, room: null })
})

it('ROOM-183 of more than 256 KiB of entries it tells the first ones, and that there are more', async () => {
  const { room, host } = await standup(world, { space })
  await world.sql(
    `WITH people AS (
       INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
       SELECT platform.new_id(), 'human', 'anonymous', $1, 'Person ' || n, 'active' FROM generate_series(1, 60) AS n RETURNING id
     )
     INSERT INTO rooms.standup_entries (org_id, room_id, user_id, yesterday, today, blockers)
     SELECT $1, $2, id, repeat('é', 2000), repeat('x', 2000), repeat('y', 2000) FROM people`,
    [room.orgId, room.uuid],
  )
  await end(host, room)
  const [event] = (await closedIn(room)) as [RecordedEvent]
  const told = await projected(event, 'space')
  expect(told.entriesTruncated).toBe(true)
  const bytes = Buffer.byteLength(JSON.stringify(told.entries))
  const largest = Buffer.byteLength(JSON.stringify(told.entries[0])) + 1
  expect(bytes).toBeLessThanOrEqual(256 * 1_024)
  expect(bytes).toBeGreaterThan(256 * 1_024 - largest)
})
