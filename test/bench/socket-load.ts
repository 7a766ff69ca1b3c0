import { Agent } from 'node:http'
import { WebSocket } from 'ws'
import { type Exchange, post, quantile } from './http-load.ts'

export type SocketsJob = {
  group: string
  url: string
  /** What each socket says of itself and asks for; nothing where a socket just listens. */
  subscriptions: { authorization: string; payload: object }[] | number
}

export type BroadcastJob = {
  group: string
  /** Where something is published. Without exchanges it is the frame that the other group got last. */
  publish: { url: string; headers: Record<string, string>; exchanges: Exchange[] | null }
  /** What the frame that is waited for has in it; others are not counted. */
  marker: string
  events: number
}

/** Seconds of it all; the quantiles are milliseconds from publishing to the arrival at one subscriber. */
export type BroadcastOutcome = { seconds: number; p50: number; p99: number; frameBytes: number }

type Group = { sockets: WebSocket[]; turn: number; onFrame: (frame: Buffer) => void }

const OPENING_AT_ONCE = 20
const PATIENCE = 30_000
/** The same for all: then equal events are equal frames. As long as the ids that clients make. */
const SUBSCRIPTION = '018f0000-0000-7000-8000-000000000001'

export class Subscribers {
  readonly #groups = new Map<string, Group>()
  #lastFrame: Buffer = Buffer.alloc(0)

  async open({ group: name, url, subscriptions }: SocketsJob): Promise<null> {
    const group: Group = { sockets: [], turn: 0, onFrame: () => {} }
    this.#groups.set(name, group)
    const waiting =
      typeof subscriptions === 'number' ? Array.from({ length: subscriptions }, () => null) : subscriptions
    const queue = waiting.values()
    const openers = Array.from({ length: OPENING_AT_ONCE }, async () => {
      for (const subscription of queue) {
        const socket = subscription ? await subscribed(url, subscription) : await connected(url)
        socket.on('message', (frame: Buffer) => group.onFrame(frame))
        group.sockets.push(socket)
      }
    })
    await Promise.all(openers)
    return null
  }

  /** Publishes one after the other, each when the last has reached every subscriber. */
  async broadcast({ group: name, publish, marker, events }: BroadcastJob): Promise<BroadcastOutcome> {
    const group = this.#groups.get(name)!
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const times: number[] = []
    const started = performance.now()
    try {
      for (let event = 0; event < events; event++) {
        const { send, expect } = publish.exchanges
          ? publish.exchanges[group.turn++ % publish.exchanges.length]!
          : { send: this.#lastFrame.toString(), expect: '{}' }
        const sent = performance.now()
        const arrival = this.#arrival(group, marker, () => times.push(performance.now() - sent))
        const [body, frame] = await Promise.all([post(publish.url, publish.headers, send, agent), arrival])
        if (!body.startsWith(`{"data":${expect}`)) throw new Error(`${publish.url} answered ${body.slice(0, 500)}`)
        if (!publish.exchanges && !frame.equals(this.#lastFrame)) throw new Error('the frame is not what was posted')
        this.#lastFrame = frame
      }
    } finally {
      agent.destroy()
    }
    const seconds = (performance.now() - started) / 1_000
    return { seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99), frameBytes: this.#lastFrame.length }
  }

  async close(): Promise<null> {
    const sockets = [...this.#groups.values()].flatMap((group) => group.sockets)
    this.#groups.clear()
    for (const socket of sockets) socket.terminate()
    return null
  }

  /** Resolves with the frame when every subscriber has got it; all must have got the same. */
  #arrival(group: Group, marker: string, arrived: () => void): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    let first: Buffer | undefined
    let missing = group.sockets.length
    const timer = setTimeout(() => reject(new Error(`${missing} of ${group.sockets.length} got no frame`)), PATIENCE)
    group.onFrame = (frame) => {
      if (!frame.includes(marker)) return
      arrived()
      first ??= frame
      if (!frame.equals(first)) reject(new Error(`frames differ: ${first} and ${frame}`))
      missing -= 1
      if (missing === 0) resolve(first)
    }
    return promise.finally(() => clearTimeout(timer))
  }
}

export async function connected(url: string, protocol?: string): Promise<WebSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol, { perMessageDeflate: false })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once('open', resolve)
  socket.once('error', reject)
  await promise
  socket.on('error', () => {})
  return socket
}

/** Speaks graphql-transport-ws until the first result, which is the room as it is. */
async function subscribed(
  url: string,
  { authorization, payload }: { authorization: string; payload: object },
): Promise<WebSocket> {
  const socket = await connected(url, 'graphql-transport-ws')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const step = (bytes: Buffer) => {
    const { type, payload: result } = JSON.parse(bytes.toString())
    if (type === 'connection_ack') socket.send(JSON.stringify({ id: SUBSCRIPTION, type: 'subscribe', payload }))
    else if (type === 'next' && !result.errors) resolve()
    else reject(new Error(`a subscriber got ${bytes}`))
  }
  socket.on('message', step)
  socket.once('close', (code, reason) => reject(new Error(`a subscriber was closed: ${code} ${reason}`)))
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }))
  await promise
  socket.removeListener('message', step)
  return socket
}
