import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { refreshPresence } from '../../src/rooms/room/presence.ts'
import { sweepPresence } from '../../src/rooms/room/sweep-presence.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const beat = (actor: Actor, room: TestRoom, connectionId: string = randomUUID()) =>
  actor.mutate('roomHeartbeat', { roomId: room.id, connectionId }, 'room { presentUserIds } serverNow')
const leave = (actor: Actor, room: TestRoom, connectionId: string) =>
  actor.mutate('roomLeave', { roomId: room.id, connectionId }, 'room { presentUserIds }')
const present = async (room: TestRoom): Promise<string[]> =>
  (await world.owner.room(room, 'presentUserIds')).presentUserIds
const connections = ({ uuid }: TestRoom, { userId }: Actor) =>
  world.sql('SELECT connection_id FROM rooms.room_presence WHERE room_id = $1 AND user_id = $2', [uuid, userId])
const silent = ({ uuid }: TestRoom, { userId }: Actor, seconds: number) =>
  world.sql(
    `UPDATE rooms.room_presence SET last_seen_at = now() - make_interval(secs => $3) WHERE room_id = $1 AND user_id = $2`,
    [uuid, userId, seconds],
  )
const joined = async (room: TestRoom) => (await world.events(room)).filter(({ type }) => type === 'ParticipantJoined')
const follow = (room: TestRoom, { client }: Actor, connectionId?: string) =>
  openRoomStream({
    url: `${world.app.url}/graphql`,
    token: client.token!,
    variables: { roomId: room.id, connectionId },
  })
const sweep = () => sweepPresence((work) => work())

describe('ROOM-50', () => {
  it('ROOM-50 makes whoever opens a stream present, and the first time a participant', async () => {
    const { room } = await world.pokerRoom()
    const people = [await world.member({ spectator: true }), await world.anonymous(), await world.guest(room)]
    for (const person of people) {
      const stream = follow(room, person)
      await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
      expect(await present(room)).toContain(person.id)
      const again = follow(room, person)
      await again.next(({ __typename }) => __typename === 'RoomSnapshot')
      stream.close()
      again.close()
      await expect.poll(() => present(room)).not.toContain(person.id)
    }
    expect((await joined(room)).map(({ payload }) => payload)).toEqual(
      people.map(({ userId }, at) => ({
        participant: {
          userId,
          guest: at === 2,
          spectator: at === 0,
          cofacilitator: false,
          joinedAt: expect.any(String),
        },
      })),
    )
    const { participants } = await world.owner.room(room, 'participants { user { id } guest spectator present }')
    expect(participants.slice(1)).toEqual(
      people.map(({ id }, at) => ({ user: { id }, guest: at === 2, spectator: at === 0, present: false })),
    )
    expect(await world.facts({ room })).toEqual(Array(3).fill('room.participant_joined'))
  })

  it('ROOM-50 makes one participant of five parallel first comings', async () => {
    const { room } = await world.pokerRoom()
    const person = await world.member()
    await Promise.all(Array.from({ length: 5 }, () => beat(person, room)))
    expect(await joined(room)).toHaveLength(1)
    expect(await connections(room, person)).toHaveLength(5)
    expect(await world.facts({ room })).toEqual(['room.participant_joined'])
  })

  it('ROOM-50 retries by heartbeat the participant row that is missing, and writes it never else', async () => {
    const { room, voters } = await world.pokerRoom({ voters: 1 })
    const connectionId = await world.attend(room, voters[0]!)
    await beat(voters[0]!, room, connectionId)
    expect(await joined(room)).toHaveLength(0)
    await world.sql('DELETE FROM rooms.room_participants WHERE user_id = $1', [voters[0]!.userId])
    await beat(voters[0]!, room, connectionId)
    expect(await joined(room)).toHaveLength(1)
  })
})

describe('ROOM-51', () => {
  it('ROOM-51 drops the oldest joiner beyond 200 participants, and never a host', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const [cofacilitator, oldest] = voters as [Actor, Actor]
    await world.sql('UPDATE rooms.room_participants SET cofacilitator = true WHERE user_id = $1', [
      cofacilitator.userId,
    ])
    await world.sql(
      `WITH people AS (
         INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
         SELECT platform.new_id(), 'human', 'anonymous', $1, 'Somebody', 'active' FROM generate_series(1, 197)
         RETURNING id)
       INSERT INTO rooms.room_participants (org_id, room_id, user_id) SELECT $1, $2, id FROM people`,
      [world.org.id, room.uuid],
    )
    const newcomer = await world.member()
    expect(await beat(newcomer, room)).toMatchObject({ __typename: 'RoomHeartbeatPayload' })
    const events = (await world.events(room)).map(({ type, payload }) => ({ type, payload }))
    expect(events).toMatchObject([
      { type: 'ParticipantLeft', payload: { userId: oldest.userId, reason: 'CAP' } },
      { type: 'ParticipantJoined', payload: { participant: { userId: newcomer.userId } } },
    ])
    const rows = await world.sql('SELECT user_id FROM rooms.room_participants WHERE room_id = $1', [room.uuid])
    const ids = rows.map(({ user_id }) => user_id)
    expect(ids).toHaveLength(200)
    for (const { userId } of [host, cofacilitator, newcomer]) expect(ids).toContain(userId)
  })
})

describe('ROOM-52', () => {
  it('ROOM-52 leaves a person with a second tab present when one closes', async () => {
    const { room } = await world.pokerRoom()
    const person = await world.member()
    const [first, second] = [randomUUID(), randomUUID()]
    await beat(person, room, first)
    await beat(person, room, second)
    expect((await leave(person, room, first)).room.presentUserIds).toContain(person.id)
    expect((await leave(person, room, second)).room.presentUserIds).not.toContain(person.id)
    expect((await leave(person, room, second)).__typename).toBe('RoomLeavePayload')
    expect((await world.events(room)).map(({ type }) => type)).toEqual(['ParticipantJoined']) // presence takes no version
  })

  it('ROOM-52 counts nobody who was silent for 45 s, before and after the sweep', async () => {
    const { room, voters } = await world.pokerRoom({ voters: 2 })
    const [quiet, near] = voters as [Actor, Actor]
    await silent(room, quiet, 46)
    await silent(room, near, 44)
    expect(await present(room)).not.toContain(quiet.id)
    expect(await present(room)).toContain(near.id)
    await sweep()
    expect(await connections(room, quiet)).toEqual([])
    expect(await connections(room, near)).toHaveLength(1)

    await beat(quiet, room)
    expect(await present(room)).toContain(quiet.id)
  })

  it('ROOM-52 tells a room that somebody fell silent', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const stream = follow(room, host)
    await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
    await silent(room, voters[0]!, 46)
    await stream.next(({ __typename, userIds }) => __typename === 'PresenceChanged' && !userIds.includes(voters[0]!.id))
    stream.close()
  })

  it('ROOM-66 reveals the round when the last one waited for leaves or falls silent', async () => {
    const revealed = async (room: TestRoom) => (await world.owner.room(room, 'poker { revealed }')).poker.revealed
    const leaving = await world.pokerRoom({ voters: 1, autoReveal: true })
    await leaving.host.vote(leaving.room, '5')
    const connectionId = await world.attend(leaving.room, leaving.voters[0]!)
    await leave(leaving.voters[0]!, leaving.room, connectionId)
    expect(await revealed(leaving.room)).toBe(false) // one of two connections
    const [last] = await connections(leaving.room, leaving.voters[0]!)
    await leave(leaving.voters[0]!, leaving.room, last!['connection_id'] as string)
    expect(await revealed(leaving.room)).toBe(true)

    const fading = await world.pokerRoom({ voters: 1, autoReveal: true })
    await fading.host.vote(fading.room, '5')
    await silent(fading.room, fading.voters[0]!, 46)
    await sweep()
    await expect.poll(() => revealed(fading.room)).toBe(true) // by this sweep or the server's own
    const [fact] = await world.sql(
      `SELECT actor_kind, payload ->> 'reason' AS reason FROM platform.audit_events
       WHERE room_id = $1 AND event_type = 'round.revealed'`,
      [fading.room.uuid],
    )
    expect(fact).toEqual({ actor_kind: 'system', reason: 'AUTO' })
  })

  it('ROOM-66 completes when the last two waited for leave at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { room, host, voters } = await world.pokerRoom({ voters: 2, autoReveal: true })
      await host.vote(room, '5')
      const rows = await Promise.all(voters.map((voter) => connections(room, voter)))
      await Promise.all(voters.map((voter, at) => leave(voter, room, rows[at]![0]!['connection_id'] as string)))
      expect((await host.room(room, 'poker { revealed }')).poker.revealed).toBe(true)
    }
  })

  it('keeps connections alive for streams, and says which are gone', async () => {
    const { room, voters } = await world.pokerRoom({ voters: 1 })
    const connectionId = await world.attend(room, voters[0]!, 40)
    const gone = randomUUID()
    const missing = await operation('write', { orgId: world.org.id }, () =>
      refreshPresence(world.org.id, [connectionId, gone]),
    )
    expect(missing).toEqual([gone])
    const [row] = await world.sql(
      `SELECT last_seen_at > now() - interval '5 s' AS fresh FROM rooms.room_presence WHERE connection_id = $1`,
      [connectionId],
    )
    expect(row).toEqual({ fresh: true })
  })
})

describe('ROOM-53', () => {
  it('ROOM-53 keeps ten connections of a person and room; the oldest goes first', async () => {
    const { room } = await world.pokerRoom()
    const person = await world.member()
    const ids = Array.from({ length: 12 }, () => randomUUID())
    for (const id of ids) await beat(person, room, id)
    const kept = (await connections(room, person)).map(({ connection_id }) => connection_id)
    expect(kept.sort()).toEqual(ids.slice(2).sort())
  })

  it('ROOM-53 takes nobody’s connection for another’s', async () => {
    const { room, host } = await world.pokerRoom()
    const theirs = await world.attend(room, host)
    const person = await world.member()
    expect(await beat(person, room, theirs)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'connectionId'] })
    await leave(person, room, theirs)
    expect(await connections(room, host)).toHaveLength(2)
  })

  it('ROOM-6 knows no room of strangers', async () => {
    const { room } = await world.pokerRoom()
    const other = await world.guest((await world.pokerRoom()).room)
    const admin = await world.member({ space: null, role: 'admin' })
    for (const stranger of [admin, await world.outsider(), await world.otherOrg(), other]) {
      expect(await beat(stranger, room)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'roomId'] })
      expect(await leave(stranger, room, randomUUID())).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'roomId'] })
    }
    expect(await world.sql('SELECT FROM rooms.room_presence WHERE room_id = $1', [room.uuid])).toHaveLength(1)
  })
})
