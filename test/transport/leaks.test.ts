import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Events } from './events.ts'
import { type LiveWorld, liveWorld, type Person } from './live-world.ts'
import { Peer } from './peer.ts'

const CYCLES = 10_000
const MANY = 1_000_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

let world: LiveWorld
let ann: Person

beforeAll(async () => {
  world = await liveWorld({
    trusting: true,
    bounds: { messagesPerMinute: MANY, operations: 1_000 },
    limits: { sockets: MANY, streams: MANY },
  })
  ann = await world.person()
  await Peer.connect(world, ann) // from now on event streams are hers too
  Peer.terminateAll()
})
afterAll(() => world.close())

/** What must be as before once everybody has gone. */
async function settled(): Promise<{ heap: number; figures: object }> {
  Peer.terminateAll()
  Events.terminateAll()
  const quiet = () => world.sockets.size === 0 && world.streams.figures.streams === 0 && world.attached === 0
  await vi.waitUntil(quiet, { timeout: 10_000 })
  for (let at = 0; at < 5; at++) {
    await turn()
    collect()
  }
  const { subscriptions } = world.bus.figures
  const figures = {
    ...world.streams.figures,
    subscriptions,
    attached: world.attached,
    wakes: world.wake.size,
    directs: world.directs.size,
    connections: world.poolInUse,
    shutdownListeners: world.server.listenerCount('upgrade') + world.server.listenerCount('request'),
  }
  return { heap: process.memoryUsage().heapUsed, figures }
}

/** Lets those that wait in `pending` go on, to find that nobody wants them any more. */
async function openGate(): Promise<void> {
  world.gate.resolve()
  world.gate = Promise.withResolvers()
  await turn()
}

/** Runs a tenth to warm up, then the rest, of which nothing may be left. */
async function leavesNothing(cycle: (count: number) => Promise<void>): Promise<void> {
  await cycle(CYCLES / 10)
  const before = await settled()
  await cycle(CYCLES)
  const after = await settled()
  expect(after.figures).toEqual(before.figures)
  // 10,000 forgotten subscriptions would be some 100 MB (a subscriber weighs 14 KB and more).
  expect((after.heap - before.heap) / 1_048_576).toBeLessThan(5)
}

describe(`${CYCLES} subscriptions that are left`, () => {
  it('PLAT-30 leave nothing behind on WebSockets: parked, pending, and with their socket', { timeout: 120_000 }, () =>
    leavesNothing(async (count) => {
      const size = 100
      for (let done = 0; done < count; done += size) {
        const peer = await Peer.connect(world, ann)
        const field = (['parked', 'pending', 'direct'] as const)[(done / size) % 3] as string
        const { asked } = world
        for (let at = 0; at < size; at++) peer.subscribe(String(at), `subscription { ${field} { fact } }`)
        const arrived = () => (field === 'direct' ? world.directs.size : world.asked - asked) === size
        await vi.waitUntil(arrived, { interval: 1, timeout: 5_000 })
        if ((done / size) % 2 === 0) {
          for (let at = 0; at < size; at++) peer.send({ id: String(at), type: 'complete' })
          peer.subscribe('last', '{ hello }')
          await peer.next('last', 'complete')
        }
        peer.terminate()
        await vi.waitUntil(() => world.sockets.size === 0, { interval: 1, timeout: 10_000 })
        await openGate()
        expect(world.streams.figures.streams).toBe(0)
        Peer.terminateAll()
      }
    }),
  )

  it(
    'PLAT-30 leave nothing behind on event streams: parked, pending, and before the answer',
    { timeout: 240_000 },
    () =>
      leavesNothing(async (count) => {
        const size = 100
        for (let done = 0; done < count; done += size) {
          const field = (['parked', 'pending', 'direct'] as const)[(done / size) % 3] as string
          const { asked } = world
          const query = `subscription { ${field} { fact } }`
          const all = Array.from({ length: size }, () => new Events(world, { query, person: ann }))
          if ((done / size) % 4 === 3) await Promise.all(all.map((events) => events.sent))
          else {
            const arrived = () => (field === 'direct' ? world.directs.size : world.asked - asked) === size
            await vi.waitUntil(arrived, { interval: 1, timeout: 10_000 })
          }
          Events.terminateAll()
          await vi.waitUntil(() => world.connections === 0, { interval: 1, timeout: 10_000 })
          await openGate()
          await vi.waitUntil(() => world.streams.figures.streams === 0, { interval: 1, timeout: 10_000 })
        }
      }),
  )
})
