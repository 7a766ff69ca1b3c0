import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { sql } from '../../src/db/sql.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'
import { mention, unmention } from './follow-through.ts'
import { standup } from './standup-circle.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const seen = (viewer: Actor, room: TestRoom) => viewer.room(room, 'version mentionsOfMe { id } myMentions { id }')

it('ROOM-107, ROOM-108 the two people of it see it, the room’s version does not move', async () => {
  const { room, people } = await standup(world, { space: await world.space(), people: 3 })
  const [asker, asked, third] = people as [Actor, Actor, Actor]
  const { version } = await seen(third, room)
  await Promise.all([mention(asker, room, asked), mention(asker, room, asked)])
  expect(await seen(asker, room)).toEqual({ version, mentionsOfMe: [], myMentions: [{ id: asked.id }] })
  expect(await seen(asked, room)).toEqual({ version, mentionsOfMe: [{ id: asker.id }], myMentions: [] })
  expect(await seen(third, room)).toEqual({ version, mentionsOfMe: [], myMentions: [] })
  const facts = await world.sql(
    `SELECT actor_user_id, private_user_id, payload, target_id FROM platform.audit_events
     WHERE room_id = $1 AND event_type = 'standup.mentioned'`,
    [room.uuid],
  )
  expect(facts).toEqual([{ actor_user_id: asker.userId, private_user_id: asker.userId, payload: {}, target_id: null }])
  await asked.mutate('spaceLeave', { id: room.spaceId })
  expect((await seen(asker, room)).myMentions).toHaveLength(1)
  await unmention(asker, room, asked)
  expect((await seen(asker, room)).myMentions).toEqual([])
})

it('ROOM-107 a guest can neither ask nor be asked, nor can an outsider, a viewer ask or anybody ask themselves', async () => {
  const space = await world.space()
  const { room, host, people } = await standup(world, { space, people: 1 })
  const guest = await world.guest(room)
  const outsider = await world.member()
  expect(await mention(guest, room, host)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await mention(await world.viewer({ space }), room, host)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await mention(outsider, room, host)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'roomId'] })
  expect(await mention(host, room, host)).toMatchObject({ code: 'INVALID_INPUT' })
  for (const who of [guest, outsider]) {
    expect(await mention(host, room, who)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'userId'] })
  }
  for (const [from, to] of [
    [host, guest],
    [guest, host],
    [host, outsider],
  ] as const) {
    await expect(
      world.sql(
        'INSERT INTO rooms.standup_mentions (org_id, room_id, from_user_id, to_user_id) VALUES ($1, $2, $3, $4)',
        [room.orgId, room.uuid, from.userId, to.userId],
      ),
    ).rejects.toMatchObject({ code: 'MH022' })
  }
  await host.mutate('roomEnd', { roomId: room.id })
  expect(await mention(host, room, people[0]!)).toMatchObject({ code: 'ROOM_ENDED' })
})

it('ROOM-108 nobody else reads, writes or removes it in SQL either', async () => {
  const { room, people } = await standup(world, { space: await world.space(), people: 3 })
  const [asker, asked, third] = people as [Actor, Actor, Actor]
  await mention(asker, room, asked)
  const scope = ({ orgId, userId }: Actor) => ({ orgId, userId })
  const read = (viewer: Actor) =>
    operation('read', scope(viewer), () => sql`SELECT 1 FROM rooms.standup_mentions WHERE room_id = ${room.uuid}`)
  expect(await read(asker)).toHaveLength(1)
  expect(await read(asked)).toHaveLength(1)
  expect(await read(third)).toEqual([])
  expect(
    await operation(
      'write',
      scope(asked),
      () => sql`DELETE FROM rooms.standup_mentions WHERE room_id = ${room.uuid} RETURNING 1`,
    ),
  ).toEqual([])
  await expect(
    operation(
      'write',
      scope(third),
      () => sql`
        INSERT INTO rooms.standup_mentions (org_id, room_id, from_user_id, to_user_id)
        VALUES (${room.orgId}, ${room.uuid}, ${asked.userId}, ${asker.userId})`,
    ),
  ).rejects.toMatchObject({ code: '42501' })
})

it('ROOM-108 whoever is asked hears of it at once, in all their streams, and nobody else', async () => {
  const { room, people } = await standup(world, { space: await world.space(), people: 3 })
  const [asker, asked, third] = people as [Actor, Actor, Actor]
  const guest = await world.guest(room)
  const query = `subscription ($roomId: ID!, $sinceVersion: BigInt) {
    roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) { __typename version
      ... on MentionReceived { fromUserId actor { id } } ... on RoomSnapshot { room { mentionsOfMe { id } } } } }`
  const open = (viewer: Actor, sinceVersion?: string) =>
    openRoomStream({
      url: viewer.client.url,
      token: viewer.client.token!,
      variables: { roomId: room.id, ...(sinceVersion && { sinceVersion }) },
      query,
    })
  const [first, second, ofAsker, ofThird, ofGuest] = [asked, asked, asker, third, guest].map((viewer) => open(viewer))
  for (const stream of [first, second, ofAsker, ofThird, ofGuest]) {
    await stream!.next(({ __typename }) => __typename === 'RoomSnapshot')
  }
  await mention(asker, room, asked)
  for (const stream of [first, second]) {
    const heard = await stream!.next(({ __typename }) => __typename === 'MentionReceived')
    expect(heard).toMatchObject({ version: null, fromUserId: asker.id })
  }
  await third.mutate('standupEntryPut', { roomId: room.id, today: 'Work' })
  for (const stream of [ofAsker, ofThird, ofGuest]) {
    await stream!.next(({ __typename }) => __typename === 'EntryChanged')
    expect(stream!.events.some(({ __typename }) => __typename === 'MentionReceived')).toBe(false)
  }
  const again = open(asked)
  const snapshot = await again.next(({ __typename }) => __typename === 'RoomSnapshot')
  expect(snapshot.room.mentionsOfMe).toEqual([{ id: asker.id }])
  for (const stream of [first, second, ofAsker, ofThird, ofGuest, again]) stream!.close()
})

const MENTIONS = `subscription ($roomId: ID!, $sinceVersion: BigInt) {
  roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) { __typename version ... on MentionReceived { fromUserId } } }`
const follow = (viewer: Actor, room: TestRoom, sinceVersion?: string) =>
  openRoomStream({
    url: viewer.client.url,
    token: viewer.client.token!,
    variables: { roomId: room.id, ...(sinceVersion !== undefined && { sinceVersion }) },
    query: MENTIONS,
  })
const isMention = ({ __typename }: { __typename: string }) => __typename === 'MentionReceived'

it('ROOM-108 who comes back with the version that is current hears who asked meanwhile, and each of them once', async () => {
  const { room, people } = await standup(world, { space: await world.space(), people: 3 })
  const [asker, asked, third] = people as [Actor, Actor, Actor]
  await mention(asker, room, asked)
  const { version } = await seen(asked, room)
  const stream = follow(asked, room, version)
  expect(await stream.next(isMention)).toMatchObject({ fromUserId: asker.id, version: null })
  await mention(third, room, asked)
  await stream.next((event) => isMention(event) && event.fromUserId === third.id)
  expect(stream.events.filter(isMention)).toHaveLength(2)
  expect(stream.events.some(({ __typename }) => __typename === 'RoomSnapshot')).toBe(false)
  stream.close()
})

it('ROOM-108, PLAT-27 a hint alone announces nothing: what was taken back before it is read, and what nobody asked', async () => {
  const { room, people } = await standup(world, { space: await world.space(), people: 2 })
  const [asker, asked] = people as [Actor, Actor]
  const stream = follow(asked, room)
  await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
  const forged = { v: 1, o: room.orgId, r: room.uuid, f: asker.userId, m: asked.userId }
  for (const hint of [forged, { ...forged, m: 1 }]) {
    await world.sql(`SELECT pg_notify('moothall_rooms', $1)`, [JSON.stringify(hint)])
  }
  await world.sql(
    `WITH asked AS (INSERT INTO rooms.standup_mentions (org_id, room_id, from_user_id, to_user_id)
       VALUES ($1, $2, $3, $4) RETURNING 1) SELECT 1 FROM asked`,
    [room.orgId, room.uuid, asker.userId, asked.userId],
  )
  await stream.next(isMention)
  expect(stream.events.filter(isMention)).toHaveLength(1)
  await asker.mutate('standupEntryPut', { roomId: room.id, today: 'Work' })
  await stream.next(({ __typename }) => __typename === 'EntryChanged')
  expect(stream.events.filter(isMention)).toHaveLength(1)
  stream.close()
})

it('ROOM-107, ROOM-108 as the application too, MH022 refuses outsiders and nobody reads others’ mentions by the streams’ way', async () => {
  const { room, people } = await standup(world, { space: await world.space(), people: 2 })
  const [asker, asked] = people as [Actor, Actor]
  const outsider = await world.member()
  const as = ({ orgId, userId }: Actor) => ({ orgId, userId })
  for (const [from, to] of [
    [asker, outsider],
    [outsider, asker],
  ] as const) {
    await expect(
      operation(
        'write',
        as(from),
        () => sql`
          INSERT INTO rooms.standup_mentions (org_id, room_id, from_user_id, to_user_id)
          VALUES (${room.orgId}, ${room.uuid}, ${from.userId}, ${to.userId})`,
      ),
    ).rejects.toMatchObject({ code: 'MH022' })
  }
  await mention(asker, room, asked)
  const read = (scope: object) =>
    operation(
      'read',
      scope as never,
      () => sql`SELECT * FROM rooms.mentions_of(${room.uuid}, ${[asked.userId]}::uuid[])`,
    )
  expect(await read({ orgId: room.orgId })).toHaveLength(1)
  const other = await world.otherOrg()
  for (const scope of [as(outsider), { orgId: room.orgId, roomId: room.uuid }, { orgId: other.orgId }]) {
    expect(await read(scope)).toEqual([])
  }
})
