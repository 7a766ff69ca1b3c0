import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { vi } from 'vitest'
import type { LiveWorld, Person } from './live-world.ts'

const opened = new Set<Events>()

type Asked = { query: string; person?: Person; accept?: string; headers?: Record<string, string> }

/** A reader of server-sent events on a connection of its own, which can stop reading and can go away at any time. */
export class Events {
  static terminateAll(): void {
    for (const events of opened) events.leave()
    opened.clear()
  }

  readonly request: ClientRequest
  response: IncomingMessage | undefined
  text = ''
  readonly results: unknown[] = []
  readonly #pending: string[] = []
  ended = false

  constructor(world: LiveWorld, { query, person, accept = 'text/event-stream', headers = {} }: Asked) {
    opened.add(this)
    this.request = request(world.url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        accept,
        ...(person && { authorization: `Bearer ${person.token}` }),
        ...headers,
      },
    })
    this.request.on('error', () => {})
    this.request.on('response', (response) => {
      this.response = response
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        this.text += chunk
        this.#parse(chunk)
      })
      response.on('end', () => {
        this.ended = true
      })
      response.on('error', () => {})
    })
    this.request.end(JSON.stringify({ query }))
  }

  /** Resolves when the request is on its way. */
  get sent(): Promise<unknown> {
    return this.request.writableFinished ? Promise.resolve() : once(this.request, 'finish')
  }

  get pings(): number {
    return this.text.match(/^:$/gm)?.length ?? 0
  }

  get complete(): boolean {
    return this.text.endsWith('event: complete\ndata:\n\n')
  }

  /** Every write ends a frame, so whenever all of it is there the text ends so too. */
  #parse(chunk: string): void {
    this.#pending.push(chunk)
    if (!chunk.endsWith('\n\n') && chunk !== '\n') return
    for (const frame of this.#pending.splice(0).join('').split('\n\n')) {
      const [, json] = /^event: next\ndata: (.*)$/.exec(frame) ?? []
      if (json !== undefined) this.results.push(JSON.parse(json))
    }
  }

  leave(): void {
    this.request.destroy()
  }

  /** Resolves with the first `count` results. */
  async take(count: number): Promise<unknown[]> {
    await vi.waitUntil(() => this.results.length >= count, { timeout: 5_000, interval: 5 })
    return this.results.slice(0, count)
  }

  async completed(timeout = 5_000): Promise<void> {
    await vi.waitUntil(() => this.ended, { timeout, interval: 5 })
  }
}
