import { Agent, request } from 'node:http'

/** What one connection sends, over and over, and what must come back each time. */
export type Exchange = { send: string; expect: string }

export type HttpJob = {
  url: string
  /** One keep-alive connection each; its exchanges take turns. */
  connections: { headers: Record<string, string>; exchanges: Exchange[] }[]
  /** Jobs of one name go on where the last one stopped, whichever server it asked: a vote must differ from the last. */
  turns: string
  requests: number
}

export type HttpOutcome = { seconds: number; p50: number; p99: number }

const turnsOf = new Map<string, number[]>()

/** Sends the requests over all connections, each waiting for its answer before its next, and checks every body. */
export async function askOverHttp({ url, connections, turns: name, requests }: HttpJob): Promise<HttpOutcome> {
  const turns = turnsOf.get(name) ?? connections.map(() => 0)
  turnsOf.set(name, turns)
  const times: number[] = []
  let left = requests

  const started = performance.now()
  await Promise.all(
    connections.map(async ({ headers, exchanges }, at) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      try {
        while (left > 0) {
          left -= 1
          const turn = turns[at] ?? 0
          turns[at] = turn + 1
          const { send, expect } = exchanges[turn % exchanges.length]!
          const sent = performance.now()
          const body = await post(url, headers, send, agent)
          times.push(performance.now() - sent)
          if (!holds(body, expect))
            throw new Error(`${url} answered ${body.slice(0, 500)}\nexpected data ${expect.slice(0, 500)}`)
        }
      } finally {
        agent.destroy()
      }
    }),
  )
  return { seconds: (performance.now() - started) / 1_000, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

/** The data to the byte and no errors; the product adds what the document cost. */
function holds(body: string, data: string): boolean {
  const start = `{"data":${data}`
  return (
    body === `${start}}` ||
    (body.startsWith(`${start},"extensions":{"cost":`) && !body.includes('"errors"', start.length))
  )
}

export function post(url: string, headers: Record<string, string>, body: string, agent?: Agent): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const length = Buffer.byteLength(body)
  const outgoing = request(url, {
    method: 'POST',
    ...(agent && { agent }),
    headers: { 'content-type': 'application/json', accept: 'application/json', 'content-length': length, ...headers },
  })
  outgoing.once('error', reject)
  outgoing.once('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.once('error', reject)
    response.once('end', () => resolve(Buffer.concat(chunks).toString()))
  })
  outgoing.end(body)
  return promise
}

/** Sorts what it is given. */
export function quantile(values: number[], share: number): number {
  values.sort((a, b) => a - b)
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
}
