import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { prisma } from '../../src/db/prisma.ts'
import type { SessionCaller } from '../../src/graphql/caller.ts'
import { type ProjectionForm, type RecordedEvent, rowsReader } from '../../src/platform/audit/projection.ts'
import { eventType, eventTypes } from '../../src/platform/audit/registry.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const PLANNING = { kind: 'poker', title: 'Planning', config: { poker: { deck: { preset: 'T_SHIRT' } } } }

const projected = (event: RecordedEvent, form: ProjectionForm) =>
  operation('read', { orgId: event.orgId }, async () =>
    eventType(event.eventType)!.projection(event, form, rowsReader(event.orgId)),
  )

const lastFact = (type: string): Promise<RecordedEvent> =>
  operation('read', { orgId: world.org.id }, async () => {
    const where = { eventType: type }
    return (await prisma.auditEvent.findFirstOrThrow({ where, orderBy: { createdAt: 'desc' } })) as RecordedEvent
  })

it('ROOM-181 delivers activities, departures and changes of lead, and nothing else of rooms', () => {
  const ours = eventTypes().filter(({ name }) => /^(space|room|room_link|story|round|vote|deck|standup)\./.test(name))
  const delivered = ours.filter(({ deliverable }) => deliverable).map(({ name }) => name)
  const activities = ours.filter(({ category }) => category === 'activity').map(({ name }) => name)
  expect(delivered).toEqual(
    [...activities, 'space.member_left', 'space.member_removed', 'room.facilitator_changed'].sort(),
  )
  expect(activities).toEqual(
    expect.arrayContaining([
      'room.created',
      'room.deleted',
      'room.ended',
      'room.reopened',
      'space.created',
      'space.member_added',
      'space.member_joined',
    ]),
  )
})

it('ROOM-183 shows the space everywhere and the title of a room to the space alone; null once they are gone', async () => {
  const space = await world.space()
  const made = await world.owner.mutate('roomCreate', { spaceId: space.id, ...PLANNING }, 'room { id }')
  const event = await lastFact('room.created')
  const shown = { id: space.id, slug: space.slug, name: `Space ${space.slug}` }
  expect(await projected(event, 'space')).toEqual({
    kind: 'poker',
    space: shown,
    room: { id: made.room.id, kind: 'poker', title: 'Planning' },
  })
  expect(await projected(event, 'org')).toEqual({
    kind: 'poker',
    space: shown,
    room: { id: made.room.id, kind: 'poker' },
  })

  await world.owner.mutate('roomDelete', { id: made.room.id })
  expect(await projected(event, 'space')).toEqual({ kind: 'poker', space: shown, room: null })
  expect(await projected(await lastFact('room.deleted'), 'space')).toEqual({ kind: 'poker', space: shown, room: null })
  await world.sql('DELETE FROM rooms.spaces WHERE id = $1', [space.uuid])
  expect(await projected(event, 'space')).toEqual({ kind: 'poker', space: null, room: null })
})

it('PLAT-15 shows what happened in a space to its members, of deleted rooms too', async () => {
  const space = await world.space()
  const member = await world.member({ space })
  const made = await world.owner.mutate('roomCreate', { spaceId: space.id, ...PLANNING }, 'room { id }')
  await world.owner.mutate('roomDelete', { id: made.room.id })

  const readBy = (actor: Actor, standing: SessionCaller['standing']) =>
    operation('read', { orgId: actor.orgId, userId: actor.userId }, async () => {
      const account = standing === 'PARTICIPANT' ? 'anonymous' : 'registered'
      const caller: SessionCaller = { kind: 'session', ...ids(actor), account, standing, embedded: false }
      const readable = eventType('room.deleted')!.readers(caller)
      if (readable === null) return null
      const rows = await prisma.auditEvent.findMany({ where: { AND: [readable, { spaceId: space.uuid }] } })
      return rows.map((row) => row.eventType).sort()
    })
  expect(await readBy(member, 'MEMBER')).toEqual(['room.created', 'room.deleted'])
  expect(await readBy(await world.outsider(), 'MEMBER')).toEqual([])
  expect(await readBy(await world.member({ space: null, role: 'admin' }), 'ADMIN')).toEqual([])
  expect(await readBy(await world.anonymous({ space }), 'PARTICIPANT')).toBeNull()
})

const ids = ({ orgId, userId, sessionId }: Actor) => ({ orgId, userId, sessionId })

it('ROOM-180 records who did it, where, under the request', async () => {
  const space = await world.space()
  const anonymous = await world.anonymous({ space })
  await anonymous.mutate('roomCreate', { spaceId: space.id, ...PLANNING })
  const event = await lastFact('room.created')
  expect(event).toMatchObject({
    actorKind: 'human',
    actorUserId: anonymous.userId,
    targetKind: 'Room',
    targetId: event.roomId,
    spaceId: space.uuid,
    requestId: expect.any(String),
  })
})

it('ROOM-15, ROOM-180 records nothing of heartbeats, leaving and looking', async () => {
  const { room, host } = await world.pokerRoom({ space: await world.space() })
  const connectionId = await world.attend(room, host)
  await host.mutate('roomHeartbeat', { roomId: room.id, connectionId })
  await host.mutate('roomLeave', { roomId: room.id, connectionId })
  await host.mutate('spaceSeen', { id: room.spaceId })
  expect(await world.sql('SELECT FROM platform.audit_events WHERE actor_user_id = $1', [host.userId])).toEqual([])
})
