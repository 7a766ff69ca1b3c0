import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { type OwnCluster, ownCluster, type TestDatabase } from '../support/database.ts'
import { openEventStream } from '../support/event-stream.ts'
import { openRoomStream, ROOM_EVENTS } from '../support/room-stream.ts'
import { actorAt, type ServerProcess, startProcess } from '../support/server-process.ts'
import { createWorld, type World } from '../support/world.ts'
import { Member, openAll } from './returning-crowd.ts'

const ROOMS = 2
const PEOPLE = 50
const STREAMS_EACH = 10
const HEADS = ROOMS * PEOPLE * STREAMS_EACH
const PATIENCE = { timeout: 60_000, interval: 50 }
const WIDE = { MOOTHALL_MAX_SOCKETS_PER_ACTOR: '1000', MOOTHALL_MAX_STREAMS_PER_ACTOR: '1000' }

let cluster: OwnCluster
let database: TestDatabase
let statements: pg.Client
/** Stays up, and takes the votes while the other one is away. */
let voting: ServerProcess
let world: World

beforeAll(async () => {
  cluster = await ownCluster({ shared_preload_libraries: 'pg_stat_statements' })
  database = await cluster.createDatabase()
  statements = new pg.Client({ connectionString: database.superuserUrl })
  await statements.connect()
  await statements.query('CREATE EXTENSION pg_stat_statements')
  voting = await startProcess(database)
  world = await createWorld(voting)
})
afterAll(async () => {
  await world?.close()
  await statements?.end()
  await cluster?.remove()
})

/** How often the database was asked something that has this in it, since the counting began anew. */
async function asked(text: string): Promise<number> {
  const { rows } = await statements.query<{ calls: number }>(
    `SELECT coalesce(sum(calls), 0)::integer AS calls FROM pg_stat_statements
     WHERE query LIKE '%' || $1 || '%' AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [text],
  )
  return rows[0]!.calls
}

type Table = { room: TestRoom; host: Actor; voters: Actor[] }

it(`ROOM-173 costs the database by rooms when ${HEADS} come back at once to a server that was killed; nobody misses or doubles a version`, async () => {
  let watched = await startProcess(database, WIDE)
  const tables: Table[] = []
  while (tables.length < ROOMS) tables.push(await world.pokerRoom({ voters: PEOPLE - 1 }))
  const members = Array.from({ length: STREAMS_EACH }).flatMap(() =>
    tables.flatMap(({ room, host, voters }) =>
      [host, ...voters].map((person) => ({ room, member: new Member(person.client.token!, room.id) })),
    ),
  )
  const all = members.map(({ member }) => member)
  await openAll(all, watched.url)
  await vi.waitFor(() => expect(all.filter(({ versions }) => versions.length === 0)).toEqual([]), PATIENCE)

  let votes = 0
  let over = false
  const voters = tables.map(async ({ room, voters }) => {
    for (let turn = 0; !over; turn++) {
      const cast = await voters[turn % voters.length]!.vote(room, turn % 2 ? '3' : '5')
      if (cast.__typename === 'VoteCastPayload') votes += 1
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  })
  await vi.waitFor(() => expect(all.every(({ versions }) => versions.length > 1)).toBe(true), PATIENCE)
  await watched.kill()
  await vi.waitFor(() => expect(all.some(({ connected }) => connected)).toBe(false), PATIENCE)
  watched = await startProcess(database, WIDE)

  await statements.query('SELECT pg_stat_statements_reset()')
  const [began, votesBefore] = [performance.now(), votes]
  await openAll(all, watched.url)
  over = true
  await Promise.all(voters)
  const heads = new Map<string, number>()
  for (const { room, host } of tables) heads.set(room.id, Number((await host.room(room)).version))
  await vi.waitFor(
    () => expect(members.filter(({ room, member }) => member.versions.at(-1) !== heads.get(room.id))).toEqual([]),
    PATIENCE,
  )
  const seconds = (performance.now() - began) / 1_000
  for (const member of all) member.close()
  await watched.kill()
  const reads = await asked('SELECT rooms.room_viewers')

  expect(all.flatMap(({ faults }) => faults)).toEqual([])
  for (const { snapshots, versions } of all) {
    expect(snapshots).toBe(1) // the one of the first coming
    expect(versions).toEqual(versions.map((_, at) => versions[0]! + at))
  }
  // A look for each vote, for each first one to come, and four a second in each room at who is present. Not for each head.
  expect(reads).toBeGreaterThan(0)
  expect(reads).toBeLessThan(HEADS / 5)
  expect(reads).toBeLessThanOrEqual(votes - votesBefore + ROOMS * (4 * seconds + 4))
  expect(await asked('FROM rooms.room_events')).toBe(reads)
  expect(await asked('"rooms"."stories"')).toBe(0)
}, 300_000)

it('ROOM-53 takes two tabs and an API client of one person at once, also at once after the server was killed', async () => {
  const { room, voters } = await world.pokerRoom({ voters: 1 })
  const person = voters[0]!
  await world.depart(room, person)
  const rows = () =>
    world.sql('SELECT FROM rooms.room_presence WHERE room_id = $1 AND user_id = $2', [room.uuid, person.userId])
  const join = async ({ url }: ServerProcess) => {
    const [token, variables] = [person.client.token!, { roomId: room.id }]
    const tabs = [1, 2].map(() => openRoomStream({ url: `${url}/graphql`, token, variables }))
    const api = await openEventStream(`${url}/graphql`, token, ROOM_EVENTS, variables)
    await Promise.all([
      ...tabs.map((tab) => tab.next(({ __typename }) => __typename === 'RoomSnapshot')),
      api.next(({ data }) => data?.roomEvents.__typename === 'RoomSnapshot'),
    ])
    return { tabs, api }
  }
  const present = async () => (await person.room(room, 'presentUserIds')).presentUserIds.includes(person.id)

  const first = await startProcess(database)
  await join(first)
  expect((await rows()).length).toBe(3)
  await first.kill()
  const second = await startProcess(database)
  const { tabs, api } = await join(second)
  expect((await rows()).length).toBe(6) // those of the killed server are there until they have been silent for long enough
  expect(await present()).toBe(true)
  const cast = await actorAt(second, person).vote(room, '5')
  expect(cast.__typename).toBe('VoteCastPayload')
  for (const tab of tabs) await tab.next(({ __typename }) => __typename === 'VoteCast')
  await api.next(({ data }) => data?.roomEvents.__typename === 'VoteCast')
  expect(
    await world.sql('SELECT FROM rooms.room_participants WHERE room_id = $1 AND user_id = $2', [
      room.uuid,
      person.userId,
    ]),
  ).toHaveLength(1)

  // The silent ones go, and the person stays; with the last of the living ones they are gone.
  await world.sql(
    `UPDATE rooms.room_presence SET last_seen_at = last_seen_at - interval '46 s' WHERE room_id = $1 AND connection_id IN (
       SELECT connection_id FROM rooms.room_presence WHERE user_id = $2 ORDER BY last_seen_at LIMIT 3)`,
    [room.uuid, person.userId],
  )
  expect(await present()).toBe(true)
  await vi.waitFor(async () => expect((await rows()).length).toBe(3), { timeout: 30_000, interval: 100 })
  for (const tab of tabs) tab.close()
  api.close()
  await vi.waitFor(async () => expect(await present()).toBe(false), { timeout: 30_000, interval: 100 })
  await second.kill()
}, 120_000)
