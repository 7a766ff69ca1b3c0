import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parse } from 'graphql'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { meets, type UserCaller } from '../../src/graphql/caller.ts'
import type { Audience } from '../../src/graphql/context.ts'
import { recheckCallers } from '../../src/identity/index.ts'
import { newId } from '../../src/lib/type-id.ts'
import { currentBus } from '../../src/live/current-bus.ts'
import type { Sink } from '../../src/live/direct-stream.ts'
import { openRoomStreams } from '../../src/rooms/index.ts'
import type { Follower } from '../../src/rooms/live/channel.ts'
import { RoomHub } from '../../src/rooms/live/hub.ts'
import { schema } from '../../src/schema.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { metricOf } from '../support/metrics.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp({ MOOTHALL_MAX_STREAMS_PER_ACTOR: '1000' }))
})
afterAll(() => world.close())

const SUBSCRIPTIONS = 1_500
const ATTACHED = 10_000
const PEOPLE = 10
/** Messages a socket may send in a minute are 600: two for each subscription, and the first. */
const BY_SOCKET = 250
const AT_ONCE = 4
const QUERY = 'subscription ($roomId: ID!) { roomEvents(roomId: $roomId) { __typename version } }'
const MIB = 1_048_576

it(`ROOM-174 is as before when ${SUBSCRIPTIONS} subscriptions over sockets were opened and broken off at any moment`, async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: PEOPLE - 1 })
  const people = [host, ...voters]
  await world.sql('DELETE FROM rooms.room_presence') // the world's own
  // What is compiled and cached with the first ones is nobody's.
  await breakOff(people, room, 500)
  const before = await settled()
  const told = await breakOff(people, room, SUBSCRIPTIONS)
  expect(told).toBeGreaterThan(SUBSCRIPTIONS / 3) // so many were whole before they broke
  const after = await settled()

  expect(after.topics).toBe(before.topics)
  expect(after.streams).toBe(0)
  expect(after.waiting).toBe(0)
  expect(after.heap - before.heap).toBeLessThan(8 * MIB)
  // The room works on.
  expect((await voters[0]!.vote(room, '5')).__typename).toBe('VoteCastPayload')
  expect(world.app.log()).not.toContain('"level":50')
}, 300_000)

it(`ROOM-174 keeps no listener, queue or heap of ${ATTACHED} streams that ended while they were being brought up to date`, async () => {
  const { room, host } = await world.pokerRoom()
  await world.sql('DELETE FROM rooms.room_presence') // the world's own
  const log = pino({ level: 'silent' })
  const hub = new RoomHub(currentBus(), (result) => result, log)
  const { spaceId, uuid: roomId, orgId } = { ...room, spaceId: uuidOf(room.spaceId) }
  const audience: Audience = { orgId, spaceId, roomId, of: 'members' }
  const caller = await callerOf(host)
  let sent = 0
  const sink: Sink = { send: () => ++sent > 0, unsent: 0, drained: async () => {}, end: () => {} }
  const document = parse(QUERY)
  const attach = async (at: number): Promise<void> => {
    const variables = { roomId: room.id, sinceVersion: String(at % 5), connectionId: newId() }
    const query = hub.sharedQuery({ schema, document, operationName: undefined, variables })
    const follower: Follower = { caller, query, sink, sent: null, lagging: false, failed: '{}' }
    const added = hub.add(audience, follower)
    if (at % 3 === 0) await added
    if (at % 3 === 1) await new Promise((resolve) => setImmediate(resolve))
    hub.remove(audience, follower)
    await added
  }
  const attachAll = async (count: number) => {
    const turns = Array.from({ length: count }, (_, at) => at).values()
    await Promise.all(
      Array.from({ length: 400 }, async () => {
        for (const at of turns) await attach(at)
      }),
    )
  }
  try {
    await attachAll(1_000)
    const before = await settled()
    await attachAll(ATTACHED)
    const after = await settled()
    expect(sent).toBeGreaterThan(ATTACHED / 4)
    expect([hub.size, after.topics, after.waiting]).toEqual([0, before.topics, 0])
    expect(after.heap - before.heap).toBeLessThan(8 * MIB)
  } finally {
    hub.close()
  }
}, 120_000)

async function callerOf({ orgId, userId, sessionId, client }: Actor): Promise<UserCaller> {
  const held = await recheckCallers([{ kind: 'session', orgId, userId, sessionId } as UserCaller])
  const caller = held.get(sessionId)?.caller
  if (!caller || !meets('user', caller)) throw new Error(`nobody holds ${client.token}`)
  return caller
}

/** What is left when nothing is on its way any more. */
async function settled() {
  await vi.waitFor(
    async () => {
      expect(openRoomStreams()).toBe(0)
      expect(await world.sql('SELECT FROM rooms.room_presence')).toEqual([])
      expect(await metricOf(world.app.url, 'moothall_database_pool_waiting')).toBe(0)
    },
    { timeout: 60_000, interval: 100 },
  )
  await new Promise((resolve) => setTimeout(resolve, 1_000)) // timers of presence, which nobody follows any more
  collectGarbage()
  return {
    heap: process.memoryUsage().heapUsed,
    topics: await metricOf(world.app.url, 'moothall_bus_subscriptions'),
    streams: openRoomStreams(),
    waiting: await metricOf(world.app.url, 'moothall_database_pool_waiting'),
  }
}

/** Gives how many of them were told something. */
async function breakOff(people: readonly Actor[], room: TestRoom, count: number): Promise<number> {
  let left = count
  let told = 0
  const work = people.map(async (person) => {
    while (left > 0) {
      const mine = Math.min(left, BY_SOCKET)
      left -= mine
      const heard = await breakOffOn(person, room, mine)
      told += heard
    }
  })
  await Promise.all(work)
  return told
}

/** Each is ended at once, a moment later, or by its first event; some are open when the socket itself breaks. */
async function breakOffOn(person: Actor, room: TestRoom, count: number): Promise<number> {
  const socket = new WebSocket(`${world.app.url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws')
  const send = (message: object) => socket.send(JSON.stringify(message))
  await once(socket, 'open')
  send({ type: 'connection_init', payload: { authorization: `Bearer ${person.client.token}` } })
  await once(socket, 'message')
  const answers = new Map<string, () => void>()
  const told = new Set<string>()
  socket.on('message', (bytes) => {
    const { id, type } = JSON.parse(String(bytes))
    if (type === 'next') told.add(id)
    answers.get(id)?.()
  })
  const ids = Array.from({ length: count }, (_, at) => String(at)).values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const id of ids) {
        const answered = new Promise<void>((resolve) => answers.set(id, resolve))
        send({ id, type: 'subscribe', payload: { query: QUERY, variables: { roomId: room.id } } })
        const moment = Number(id) % 4
        if (moment === 1) await new Promise((resolve) => setTimeout(resolve, Number(id) % 40))
        if (moment > 1) await answered
        send({ id, type: 'complete' })
      }
    }),
  )
  socket.terminate()
  return told.size
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
}
