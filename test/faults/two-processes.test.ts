import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Actor } from '../support/actor.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { openEventStream } from '../support/event-stream.ts'
import { type Frame, openRoomStream, ROOM_EVENTS, type Stream } from '../support/room-stream.ts'
import { actorAt, type ServerProcess, startProcess } from '../support/server-process.ts'
import { createWorld, type World } from '../support/world.ts'

let database: TestDatabase
let world: World
let [one, two]: ServerProcess[] = []
const streams: { close(): void }[] = []

beforeAll(async () => {
  database = await createDatabase()
  one = await startProcess(database)
  two = await startProcess(database)
  world = await createWorld(one)
}, 120_000)
afterAll(async () => {
  for (const stream of streams) stream.close()
  await world.close()
  await two!.close()
  await database.drop()
})

function followOn(server: ServerProcess, actor: Actor, room: { id: string }, more: object = {}): Stream {
  const stream = openRoomStream({
    url: `${server.url}/graphql`,
    token: actor.client.token!,
    variables: { roomId: room.id, ...more },
  })
  streams.push(stream)
  return stream
}
const is = (type: string) => (event: Frame) => event.__typename === type
const snapshotOf = (stream: Stream) => stream.next(is('RoomSnapshot'), 'the snapshot')
const terminateListeners = () =>
  world.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE '%pg_notify%' AND pid <> pg_backend_pid()`,
  )

describe('two server processes on one database', () => {
  it('PLAT-25 delivers a vote cast on one to a stream of the other', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const stream = followOn(two!, host, room)
    await snapshotOf(stream)
    const cast = await voters[0]!.vote(room, '5')
    expect(cast.__typename).toBe('VoteCastPayload')
    expect((await stream.next(is('VoteCast'))).userId).toBe(voters[0]!.id)
  })

  it('PLAT-33 ends SSE and WebSocket of a session revoked on the other within a second, and nothing follows', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const person = await world.member()
    const socket = followOn(two!, person, room)
    const events = await openEventStream(`${two!.url}/graphql`, person.client.token!, ROOM_EVENTS, { roomId: room.id })
    streams.push(events)
    const watch = followOn(two!, host, room)
    await Promise.all([
      snapshotOf(socket),
      snapshotOf(watch),
      events.next((answer) => answer.data?.roomEvents.__typename === 'RoomSnapshot'),
    ])

    const revoked = Date.now()
    await person.run('mutation { sessionEnd { __typename } }')
    await Promise.all([
      vi.waitFor(() => expect(socket.closed?.code).toBe(4401), { timeout: 3_000, interval: 5 }),
      vi.waitFor(() => expect(events.ended).toBe(true), { timeout: 3_000, interval: 5 }),
    ])
    expect(Date.now() - revoked).toBeLessThan(1_500) // a second, and what a busy machine takes to run the checks
    expect(events.answers.at(-1)?.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')

    const seen = [socket.events.length, events.answers.length]
    await voters[0]!.vote(room, '5')
    await watch.next(is('VoteCast'))
    expect([socket.events.length, events.answers.length]).toEqual(seen)
  })

  it('PLAT-28 delivers by polling when the sender of notifications is stubbed out', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const stream = followOn(two!, host, room)
    await snapshotOf(stream)
    const [{ source }] = (await world.sql<{ source: string }>(
      `SELECT pg_get_functiondef('rooms.notify_room'::regproc) AS source`,
    )) as [{ source: string }]
    await world.sql(
      `CREATE OR REPLACE FUNCTION rooms.notify_room(p_org uuid, p_room uuid, p_presence boolean DEFAULT false) RETURNS void LANGUAGE sql VOLATILE AS 'SELECT NULL'`,
    )
    try {
      await voters[0]!.vote(room, '5')
      await stream.next(is('VoteCast'), 'the vote by polling')
    } finally {
      await world.sql(source)
    }
  })

  it('ROOM-170 misses and doubles no version across a dropped LISTEN connection', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 20 })
    const stream = followOn(two!, host, room)
    await snapshotOf(stream)
    for (const [at, voter] of voters.entries()) {
      if (at % 5 === 2) await terminateListeners()
      await voter.vote(room, '3')
    }
    await voters.at(-1)!.vote(room, '5')
    const head = Number((await host.room(room)).version)
    await stream.next((event) => Number(event.version) === head, 'the head')
    const versions = stream.versions()
    expect(versions).toEqual(versions.map((_, at) => versions[0]! + at))
  })

  it('ROOM-170 misses and doubles no version across kill -9 and a restart, by sinceVersion', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 12 })
    const seen: number[] = []
    let server = await startProcess(database)
    let stream = followOn(server, host, room)
    const first = Number((await snapshotOf(stream)).version)
    const voting = (async () => {
      for (const voter of voters) for (const card of ['1', '2', '3']) await voter.vote(room, card)
    })()
    for (let restart = 0; restart < 2; restart++) {
      await stream.next((event) => Number(event.version) > (seen.at(-1) ?? first), 'something new')
      await server.kill()
      seen.push(...stream.versions().filter((version) => version > (seen.at(-1) ?? first)))
      server = await startProcess(database)
      stream = followOn(server, host, room, { sinceVersion: String(seen.at(-1)) })
    }
    await voting
    const head = Number((await host.room(room)).version)
    await stream.next((event) => Number(event.version) === head, 'the head')
    seen.push(...stream.versions())
    expect(stream.events.some(is('RoomSnapshot'))).toBe(false)
    expect(seen).toEqual(Array.from({ length: head - first }, (_, at) => first + at + 1))
    await server.kill()
  }, 120_000)

  it('ID-3 governs the very next request on every process after a role change', async () => {
    const person = await world.member({ role: 'admin' })
    const there = actorAt(two!, person)
    const audit = '{ auditEvents(first: 1) { edges { cursor } } }'
    expect((await there.send(audit)).errors).toBeUndefined()
    await world.sql(`UPDATE identity.memberships SET role = 'member' WHERE user_id = $1`, [person.userId])
    expect((await there.send(audit)).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
  })
})
