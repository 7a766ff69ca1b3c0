import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'

export type Received = { path: string; headers: IncomingHttpHeaders; body: Buffer }
type Answer = { status?: number; headers?: Record<string, string>; body?: string | Buffer }
/** What a path answers; a promise may make the sender wait, and `null` leaves the answer to the function itself. */
type Answering = (request: Received, response: ServerResponse) => Answer | null | Promise<Answer | null>

/** Receivers of webhooks that tests can talk to: one server, each test a path of its own. */
export type Receivers = {
  readonly port: number
  open(answer?: Answering): Receiver
  close(): Promise<void>
}

export type Receiver = {
  readonly url: string
  readonly received: Received[]
  /** How many wait for their answer now, and the most there were. */
  readonly waiting: { now: number; most: number }
  answer: Answering
  /** Once so many have come. */
  until(count: number): Promise<Received[]>
}

export async function openReceivers(): Promise<Receivers> {
  const known = new Map<string, Receiver>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const path = request.url ?? ''
    const receiver = known.get(path)
    if (!receiver) return void response.writeHead(404).end()
    const received = { path, headers: request.headers, body: Buffer.concat(chunks) }
    receiver.received.push(received)
    const { waiting } = receiver
    waiting.now += 1
    waiting.most = Math.max(waiting.most, waiting.now)
    const answer = await receiver.answer(received, response)
    waiting.now -= 1
    if (answer) response.writeHead(answer.status ?? 200, answer.headers).end(answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    open: (answer = () => ({})) => {
      const path = `/r${known.size}`
      const received: Received[] = []
      const receiver: Receiver = {
        url: `http://127.0.0.1:${port}${path}`,
        received,
        waiting: { now: 0, most: 0 },
        answer,
        until: async (count) => {
          await vi.waitUntil(() => received.length >= count, { timeout: 30_000, interval: 20 })
          return received
        },
      }
      known.set(path, receiver)
      return receiver
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A promise that a test keeps: answers given through it wait until it lets them go. */
export function gate<T = void>(): PromiseWithResolvers<T> {
  return Promise.withResolvers<T>()
}
