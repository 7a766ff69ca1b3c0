import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream, type Stream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const STATE =
  'room { title phase version endedAt timer { endsAt } poker { roundVersion revealed currentStory { id } } }'
const of = (actor: Actor, name: string, room: TestRoom, more: object = {}) =>
  actor.mutate(name, { roomId: room.id, ...more }, STATE)
const typesOf = async (room: TestRoom) => (await world.events(room)).map(({ type }) => type)

describe('ROOM-34 renaming', () => {
  it('ROOM-34 lets hosts rename a room', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    await world.sql('UPDATE rooms.room_participants SET cofacilitator = true WHERE user_id = $1', [voters[0]!.userId])
    const { version } = await host.room(room)
    expect(await of(host, 'roomRename', room, { title: ' Sprint 7 ' })).toMatchObject({
      room: { title: 'Sprint 7', version: String(Number(version) + 1) },
    })
    expect(await of(voters[0]!, 'roomRename', room, { title: 'Sprint 8' })).toMatchObject({
      room: { title: 'Sprint 8' },
    })
    for (const other of [voters[1]!, world.owner, await world.viewer(), await world.embedded(host)]) {
      expect(await of(other, 'roomRename', room, { title: 'X' })).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await typesOf(room)).toEqual(['RoomChanged', 'RoomChanged'])
    expect(await world.facts({ room })).toEqual(['room.updated', 'room.updated'])
  })

  it('ROOM-4 takes no version for the title it has', async () => {
    const { room, host } = await world.pokerRoom()
    const before = await host.room(room)
    expect((await of(host, 'roomRename', room, { title: 'Planning' })).room.version).toBe(before.version)
    expect(await typesOf(room)).toEqual([])
    expect(await world.facts({ room })).toEqual([])
  })

  it('ROOM-8 keeps titles and passcodes out of the record', async () => {
    const space = await world.space()
    await world.owner.mutate('spaceUpdate', { id: space.id, name: 'Hush name', passcode: 'hush-code' })
    const { room, host } = await world.pokerRoom({ space })
    await of(host, 'roomRename', room, { title: 'Hush title' })
    const [row] = await world.sql(
      `SELECT count(*)::int AS hits FROM platform.audit_events WHERE payload::text ILIKE '%hush%'`,
    )
    expect(row).toEqual({ hits: 0 })
  })
})

describe('ROOM-33', () => {
  it('ROOM-33 ends and reopens: the timer stops, the story stays on the table', async () => {
    const { room, host } = await world.pokerRoom()
    await host.mutate('roomTimerStart', { roomId: room.id, seconds: 60 })
    const ended = await of(host, 'roomEnd', room)
    expect(ended.room).toMatchObject({
      phase: 'done',
      endedAt: expect.any(String),
      timer: null,
      poker: { currentStory: { id: room.round.storyId } },
    })
    const [first] = await world.sql('SELECT first_ended_at, ended_at FROM rooms.rooms WHERE id = $1', [room.uuid])
    expect(first!['first_ended_at']).toEqual(first!['ended_at'])
    expect(await of(host, 'roomEnd', room)).toMatchObject({ room: { version: ended.room.version } })

    const reopened = await of(host, 'roomReopen', room)
    expect(reopened.room).toMatchObject({
      phase: 'active',
      endedAt: null,
      poker: { revealed: false, roundVersion: room.round.roundVersion, currentStory: { id: room.round.storyId } },
    })
    expect(await of(host, 'roomReopen', room)).toMatchObject({ room: { version: reopened.room.version } })

    await of(host, 'roomEnd', room)
    const [again] = await world.sql('SELECT first_ended_at FROM rooms.rooms WHERE id = $1', [room.uuid])
    expect(again!['first_ended_at']).toEqual(first!['first_ended_at'])
    expect(await typesOf(room)).toEqual([
      'TimerChanged',
      'TimerChanged',
      'RoomPhaseChanged',
      'RoomPhaseChanged',
      'RoomPhaseChanged',
    ])
    expect(await world.facts({ room })).toEqual(['room.timer_set', 'room.ended', 'room.reopened', 'room.ended'])
  })

  it('ROOM-33 is for hosts and owners of the space', async () => {
    const { room, voters } = await world.pokerRoom({ voters: 1 })
    const guest = await world.guest(room)
    const others = [voters[0]!, await world.viewer({ spaceRole: 'owner' }), await world.embedded(), guest]
    for (const name of ['roomEnd', 'roomReopen']) {
      for (const other of others) expect(await of(other, name, room)).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await of(world.owner, 'roomEnd', room)).toMatchObject({ room: { phase: 'done' } })
    expect(await of(world.owner, 'roomReopen', room)).toMatchObject({ room: { phase: 'active' } })
  })

  it('ROOM-5 refuses every other change of a room that has ended, and writes nothing', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    await of(host, 'roomEnd', room)
    const before = await host.room(room)
    const calls: [Actor, string, object][] = [
      [host, 'roomRename', { title: 'X' }],
      [host, 'roomTimerStart', { seconds: 60 }],
      [host, 'roomTimerExtend', { seconds: 60 }],
      [host, 'roomTimerStop', {}],
      [host, 'roomSelect', {}],
      [host, 'roomReset', {}],
      [host, 'roomReveal', { roundVersion: room.round.roundVersion }],
      [voters[0]!, 'voteCast', { ...room.round, card: '5' }],
      [voters[0]!, 'roomFacilitatorClaim', {}],
    ]
    for (const [actor, name, more] of calls) {
      const refused = await actor.mutate(name, { roomId: room.id, ...more })
      expect([name, refused.code]).toEqual([name, 'ROOM_ENDED'])
    }
    expect(await host.room(room)).toEqual(before)
  })

  it('ROOM-33 forgets a window that has passed when the room is reopened', async () => {
    const { room, host } = await world.pokerRoom()
    await of(host, 'roomEnd', room)
    const close = async (at: string) => {
      await world.sql(`UPDATE rooms.rooms SET closes_at = ${at} WHERE id = $1`, [room.uuid])
      await of(host, 'roomReopen', room)
      const [row] = await world.sql('SELECT closes_at FROM rooms.rooms WHERE id = $1', [room.uuid])
      await of(host, 'roomEnd', room)
      return row!['closes_at']
    }
    expect(await close(`now() - interval '1 s'`)).toBeNull()
    expect(await close(`now() + interval '1 h'`)).not.toBeNull()
  })
})

describe('ROOM-34 deleting', () => {
  it('ROOM-34 deletes a room: children, streams and guests’ sessions go with it, the record stays', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    await voters[0]!.vote(room, '5')
    const guest = await world.guest(room)
    const streams = [voters[0]!, guest].map(({ client }) =>
      openRoomStream({ url: `${world.app.url}/graphql`, token: client.token!, variables: { roomId: room.id } }),
    )
    for (const stream of streams) await stream.next(({ __typename }) => __typename === 'RoomSnapshot')

    const deleted = await host.mutate('roomDelete', { id: room.id }, 'roomId')
    expect(deleted['roomId']).toBe(room.id)
    const [followed, ended] = streams as [Stream, Stream]
    const last = await followed.next(({ __typename }) => __typename === 'RoomDeleted')
    expect(followed.events.at(-1)).toBe(last)
    await expect.poll(() => followed.closed?.complete).toBe(true)
    await expect.poll(() => ended.closed).toBeTruthy() // with the session, or told as above
    for (const stream of streams) stream.close()
    for (const table of [
      'rooms.stories',
      'rooms.votes',
      'rooms.room_events',
      'rooms.room_presence',
      'rooms.room_links',
    ]) {
      expect(await world.sql(`SELECT FROM ${table} WHERE room_id = $1`, [room.uuid])).toEqual([])
    }
    expect(await host.room(room)).toBeNull()
    const { errors } = await guest.send('{ viewer { standing } }')
    expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
    expect(await world.facts({ room })).toContain('room.deleted')
    expect(await host.mutate('roomDelete', { id: room.id })).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'id'] })
  })

  it('ROOM-34 is for the facilitator and owners of the space, also in an ended room', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const [cofacilitator, member] = voters as [Actor, Actor]
    await world.sql('UPDATE rooms.room_participants SET cofacilitator = true WHERE user_id = $1', [
      cofacilitator.userId,
    ])
    await of(host, 'roomEnd', room)
    const others = [cofacilitator, member, await world.embedded(), await world.embedded(host), await world.guest(room)]
    for (const other of others) {
      expect(await other.mutate('roomDelete', { id: room.id })).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect((await world.owner.mutate('roomDelete', { id: room.id })).__typename).toBe('RoomDeletePayload')
  })
})

it('ROOM-6 renders a room’s space in its stream for members, each their own role, and for guests none', async () => {
  const space = await world.space({ passcode: 'pen' })
  const { room, host, voters } = await world.pokerRoom({ space, voters: 1 })
  const guest = await world.guest(room)
  const shared = `space { slug passcode hasPasscode kinds { kind } decks { name } members { totalCount nodes { role user { id } } }
    rooms { nodes { title facilitator { id } } } }`
  const seenBy = async ({ client }: Actor, selection: string) => {
    const query = `subscription ($roomId: ID!) { roomEvents(roomId: $roomId) {
      __typename version ... on RoomSnapshot { room { ${selection} } } } }`
    const variables = { roomId: room.id }
    const stream = openRoomStream({ url: `${world.app.url}/graphql`, token: client.token!, variables, query })
    const { room: seen } = await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
    expect(stream.answers.flatMap(({ errors }) => errors ?? [])).toEqual([])
    stream.close()
    return seen.space
  }
  const expected = {
    slug: space.slug,
    passcode: 'pen',
    hasPasscode: true,
    kinds: [{ kind: 'poker' }, { kind: 'standup' }],
    decks: [],
    members: { totalCount: 3, nodes: [{ role: 'OWNER', user: { id: world.owner.id } }, {}, {}] },
    rooms: { nodes: [{ title: 'Planning', facilitator: { id: host.id } }] },
  }
  expect(await seenBy(voters[0]!, shared)).toMatchObject(expected)
  expect(await seenBy(guest, shared)).toBeNull()
  const own = `${shared.slice(0, -1)} myRole abandoned }`
  expect(await seenBy(world.owner, own)).toMatchObject({ ...expected, myRole: 'OWNER', abandoned: false })
  expect(await seenBy(host, own)).toMatchObject({ ...expected, myRole: 'MEMBER' })
})
