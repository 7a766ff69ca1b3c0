import { request } from 'node:http'
import { WebSocket } from 'ws'
import { heapOf, INSPECTED } from '../heap.ts'
import type { Measuring } from '../measuring.ts'
import { startProduct } from '../product.ts'

const STREAMS = 1_000
const AT_ONCE = 20
const SUBSCRIPTION = JSON.stringify({ query: 'subscription { orgState { id } }' })

/** Heap that an open connection takes on which nothing happens. */
export const memory: Measuring = {
  name: 'memory',
  title: `memory of ${STREAMS} idle connections`,
  async run({ appUrl, fixtures }) {
    const product = await startProduct(appUrl, INSPECTED)
    const tokens = fixtures.people.map(({ token }) => token)
    try {
      const each = async (open: (at: number) => Promise<() => void>) => {
        // What is compiled and cached with the first ones is nobody's.
        const first = await opened(AT_ONCE, open)
        const before = await heapOf(product)
        const closers = await opened(STREAMS, open)
        const kib = (await heapOf(product)) - before
        for (const close of [...first, ...closers]) close()
        return kib / STREAMS / 1_024
      }
      return [
        {
          what: 'an idle WebSocket',
          value: await each((at) => openSocket(product.url, tokens[at % tokens.length]!)),
          unit: 'KiB heap',
          atMost: 20,
        },
        {
          what: 'an idle SSE stream',
          value: await each((at) => openStream(product.url, tokens[at % tokens.length]!)),
          unit: 'KiB heap',
          atMost: 30,
        },
      ]
    } finally {
      await product.stop()
    }
  },
}

async function opened(count: number, open: (at: number) => Promise<() => void>): Promise<(() => void)[]> {
  const closers: (() => void)[] = []
  for (let at = 0; at < count; at += AT_ONCE) {
    closers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, next) => open(at + next)))))
  }
  return closers
}

async function openSocket(url: string, token: string): Promise<() => void> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: false,
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once('open', () =>
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } })),
  )
  socket.once('message', (bytes: Buffer) =>
    bytes.includes('connection_ack') ? resolve() : reject(new Error(`a socket got ${bytes}`)),
  )
  socket.once('error', reject)
  await promise
  return () => socket.terminate()
}

async function openStream(url: string, token: string): Promise<() => void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const asking = request(`${url}/graphql`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${token}` },
  })
  asking.once('response', (response) => {
    response.on('error', () => {})
    if (response.statusCode !== 200) reject(new Error(`a stream was answered ${response.statusCode}`))
    response.once('data', () => resolve()) // the first comment: it is open
  })
  asking.on('error', reject)
  asking.end(SUBSCRIPTION)
  await promise
  return () => asking.destroy()
}
