import { once } from 'node:events'
import { vi } from 'vitest'
import { WebSocket } from 'ws'
import type { LiveWorld, Person } from './live-world.ts'

const opened = new Set<Peer>()

// biome-ignore lint/suspicious/noExplicitAny: payloads are what the test expects them to be
type Payload = any
export type Message = { id?: string; type: string; payload?: Payload }

/** A peer that speaks the protocol by hand and remembers everything. */
export class Peer {
  /** Opens a socket and waits until it is acknowledged. */
  static async connect(world: LiveWorld, person: Person): Promise<Peer> {
    const peer = new Peer(world.wsUrl)
    await once(peer.socket, 'open')
    peer.init(person)
    await vi.waitUntil(() => peer.messages.some(({ type }) => type === 'connection_ack'), {
      interval: 5,
      timeout: 10_000,
    })
    return peer
  }

  static terminateAll(): void {
    for (const peer of opened) peer.terminate()
    opened.clear()
  }

  readonly socket: WebSocket
  readonly messages: Message[] = []
  close: { code: number; reason: string } | undefined

  constructor(url: string, options: { headers?: Record<string, string>; protocol?: string } = {}) {
    this.socket = new WebSocket(url, options.protocol ?? 'graphql-transport-ws', { headers: options.headers })
    this.socket.on('message', (data) => this.messages.push(JSON.parse(String(data))))
    this.socket.on('close', (code, reason) => {
      this.close = { code, reason: String(reason) }
    })
    this.socket.on('error', () => {})
    opened.add(this)
  }

  /** Leaves what comes in the operating system's buffers, which then fill up. */
  pauseReading(): void {
    this.socket.pause()
  }

  resumeReading(): void {
    this.socket.resume()
  }

  terminate(): void {
    this.socket.terminate()
  }

  init({ token }: Person): void {
    this.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } })
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message))
  }

  subscribe(id: string, query: string, variables?: object): void {
    this.send({ id, type: 'subscribe', payload: { query, variables } })
  }

  of(id: string): Message[] {
    return this.messages.filter((message) => message.id === id)
  }

  async next(id: string, type: string, count = 1): Promise<Message> {
    const found = () => this.of(id).filter((message) => message.type === type)
    await vi.waitUntil(() => found().length >= count, { timeout: 5_000, interval: 5 })
    return found()[count - 1] as Message
  }

  async closed(timeout = 5_000): Promise<{ code: number; reason: string }> {
    await vi.waitUntil(() => this.close, { timeout, interval: 5 })
    return this.close as { code: number; reason: string }
  }
}
