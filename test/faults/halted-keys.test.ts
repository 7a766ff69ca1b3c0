import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Actor, HeldKey } from '../support/actor.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { type EventStream, openEventStream } from '../support/event-stream.ts'
import { openRoomStream, ROOM_EVENTS, type Stream } from '../support/room-stream.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { createWorld, type World } from '../support/world.ts'

const SECOND = 1_000
/** How many round trips a busy machine may take to run the checks. */
const CHECKS = 8

vi.setConfig({ testTimeout: 60_000 })

let database: TestDatabase
let [one, two]: ServerProcess[] = []
const streams: { close(): void }[] = []

beforeAll(async () => {
  database = await createDatabase()
  one = await startProcess(database)
  two = await startProcess(database)
}, 120_000)
afterAll(async () => {
  for (const stream of streams) stream.close()
  await two?.close()
  await one?.close()
  await database?.drop()
})

type Agent = Actor & HeldKey
type Followed = { socket: Stream; events: EventStream; code: () => Promise<string> }

/** A world of its own, whose agent follows a room on the other process by WebSocket and by SSE. */
async function following(): Promise<{ world: World; agent: Agent; there: Followed }> {
  const world = await createWorld(one!)
  const { room } = await world.pokerRoom()
  const agent = await world.agent()
  const url = `${two!.url}/graphql`
  const socket = openRoomStream({ url, token: agent.key, variables: { roomId: room.id } })
  const events = await openEventStream(url, agent.key, ROOM_EVENTS, { roomId: room.id })
  streams.push(socket, events)
  await socket.next(({ __typename }) => __typename === 'RoomSnapshot', 'the snapshot')
  await events.next((answer) => answer.data?.roomEvents.__typename === 'RoomSnapshot')
  const code = async () => {
    const { errors } = await two!.client(agent.key).send('{ viewer { standing } }')
    return (errors?.[0]?.extensions.code as string | undefined) ?? 'ok'
  }
  expect(await code()).toBe('ok')
  return { world, agent, there: { socket, events, code } }
}

/** What the agent meets on the other process within a second of `change`. */
async function within(
  change: () => Promise<unknown>,
  { socket, events, code }: Followed,
  [closed, error, answered]: [number, string, string],
) {
  const trip = await tookMs(code)
  await change()
  const took = await tookMs(() =>
    Promise.all([
      // A stream may be ended a moment before the socket it is on; then its client, with nothing left to hear, hangs up.
      vi.waitFor(() => expect([closed, 1000]).toContain(socket.closed?.code), { timeout: 10_000, interval: 5 }),
      vi.waitFor(() => expect(events.ended).toBe(true), { timeout: 10_000, interval: 5 }),
      vi.waitFor(async () => expect(await code()).toBe(answered), { timeout: 10_000, interval: 5 }),
    ]),
  )
  expect(took).toBeLessThan(SECOND + CHECKS * trip)
  expect(events.answers.at(-1)?.errors?.[0]?.extensions.code).toBe(error)
}

async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now()
  await work()
  return performance.now() - since
}

describe('on every other process within a second', () => {
  it('ID-54, PLAT-33 a revoked key is refused, its socket and event stream end, and nothing follows', async () => {
    const { world, agent, there } = await following()
    const id = encodeId('ApiKey', agent.keyId)
    await within(() => world.owner.mutate('apiKeyRevoke', { id }), there, [4401, 'UNAUTHENTICATED', 'UNAUTHENTICATED'])
    const seen = [there.socket.events.length, there.events.answers.length]
    const { room, host } = await world.pokerRoom()
    await host.vote(room, '5')
    expect([there.socket.events.length, there.events.answers.length]).toEqual(seen)
  })

  it('ID-53, PLAT-33 a rotated key ends with its grace, on a socket that is silent', async () => {
    const { world, agent, there } = await following()
    await world.owner.mutate('apiKeyRotate', { id: encodeId('ApiKey', agent.keyId), graceMinutes: 60 })
    expect(await there.code()).toBe('ok')
    expect([there.socket.closed, there.events.ended]).toEqual([undefined, false])
    const soon = () =>
      world.sql(`UPDATE identity.api_keys SET expires_at = clock_timestamp() + interval '300 ms' WHERE id = $1`, [
        agent.keyId,
      ])
    await within(soon, there, [4401, 'UNAUTHENTICATED', 'UNAUTHENTICATED'])
  })

  it.each([
    ['ID-43 a suspended agent', 'agentSuspend', 'AGENT_SUSPENDED'],
    ['ID-43 a stopped agent', 'agentStop', 'AGENT_STOPPED'],
  ])('%s is refused, and its streams end', async (_what, mutation, code) => {
    const { world, agent, there } = await following()
    const id = encodeId('Agent', agent.userId)
    await within(() => world.owner.mutate(mutation, { id }), there, [4403, 'FORBIDDEN', code])
  })

  it.each([
    ['ID-58 a stopped', 'orgStop', 'ORG_STOPPED'],
    ['ID-59 an archived', 'orgArchive', 'ORG_ARCHIVED'],
  ])('%s org has its agents refused, and their streams end; people go on', async (_what, mutation, code) => {
    const { world, there } = await following()
    const input = mutation === 'orgStop' ? { reason: 'enough' } : {}
    await within(() => world.owner.mutate(mutation, input), there, [4403, 'FORBIDDEN', code])
    const { data } = await two!.client(world.owner.client.token).send('{ viewer { standing } }')
    expect(data?.viewer.standing).toBe('OWNER')
  })
})

it('ID-55, PLAT-74 what keys were used for is written before a process that is told to stop has gone', async () => {
  const world = await createWorld(one!)
  const agent = await world.agent()
  const third = await startProcess(database)
  await third.client(agent.key).run('{ viewer { standing } }')
  expect(await third.stop()).toBe(0)
  const [row] = await world.sql('SELECT last_used_at FROM identity.api_keys WHERE id = $1', [agent.keyId])
  expect(row!['last_used_at']).toBeInstanceOf(Date)
})
