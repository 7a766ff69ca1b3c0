import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { frameBytes, framesSent } from '../lib/metrics.ts'
import type { FrameWriter, Outlet } from './outlet.ts'
import type { EndReason } from './streams.ts'

/** Close codes of graphql-transport-ws and RFC 6455, as far as we send them. */
export const CLOSE = {
  credential: [4401, 'Unauthorized'],
  standing: [4403, 'Forbidden'],
  shutdown: [1012, 'Service restart'],
  tooMany: [4429, 'Too many requests'],
  tryAgain: [1013, 'Try again later'],
  internal: [1011, 'Internal error'],
} as const satisfies Record<EndReason, readonly [number, string]> & Record<string, readonly [number, string]>

const MINUTE = 60_000
/** How long a peer may take to answer a close before its connection is cut. */
const CLOSE_WAIT = 1_000

/** One WebSocket with its bounds and its heartbeat; what is spoken over it is graphql-ws's concern. */
export class Socket {
  readonly request: IncomingMessage
  /** Messages being worked on: running operations, and what waits for standing to be read. */
  working = 0
  readonly #socket: WebSocket
  readonly #onClose = new Set<() => void>()
  readonly #heartbeat: NodeJS.Timeout
  #heardAt = performance.now()
  #windowEnds = 0
  #inWindow = 0

  constructor(socket: WebSocket, request: IncomingMessage, pingEvery: number) {
    this.#socket = socket
    this.request = request
    socket.once('close', () => this.#closed())
    // ws closes by itself, with the code that fits: 1009 for a frame too large, 1007 for text that is not UTF-8.
    socket.on('error', () => {})
    for (const sign of ['ping', 'pong'] as const) socket.on(sign, () => this.heard())
    this.#heartbeat = setInterval(() => this.#beat(2 * pingEvery), pingEvery)
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  heard(): void {
    this.#heardAt = performance.now()
  }

  /** Counts a message; false when it is one too many this minute. */
  admits(perMinute: number): boolean {
    const now = performance.now()
    if (now >= this.#windowEnds) {
      this.#windowEnds = now + MINUTE
      this.#inWindow = 0
    }
    this.#inWindow += 1
    return this.#inWindow <= perMinute
  }

  /** Resolves when the message has left this process or never will. */
  send(message: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.isOpen) this.#send(message, () => resolve())
      else resolve()
    })
  }

  /** Nothing more is sent or taken from here on, and everything that ran on it ends now, not when the peer has answered. */
  close([code, reason]: readonly [number, string]): void {
    if (!this.isOpen) return
    this.#socket.close(code, reason)
    this.#endAll()
    setTimeout(() => this.cut(), CLOSE_WAIT).unref()
  }

  /** Ends it without waiting for anybody. */
  cut(): void {
    this.#socket.terminate()
  }

  onClose(gone: () => void): () => void {
    if (!this.isOpen) gone()
    else this.#onClose.add(gone)
    return () => this.#onClose.delete(gone)
  }

  /** The outlet of the operation `id`: frames are put together from text, which costs less than a message object. */
  outlet(id: string): Outlet {
    const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
    const socket = this.#socket
    const writer: FrameWriter = {
      write: (json) => {
        if (this.isOpen) this.#send(`${head}${json}}`)
      },
      get unsent() {
        return socket.bufferedAmount
      },
      drained: () => this.#drained(),
    }
    return { connection: 'shared', onClose: (gone) => this.onClose(gone), writer: () => writer }
  }

  #send(frame: string, sent?: () => void): void {
    framesSent.inc()
    frameBytes.inc(frame.length)
    this.#socket.send(frame, sent)
  }

  /** A ping queues behind everything else: when it is out, so is the rest. */
  #drained(): Promise<void> {
    if (!this.isOpen || this.#socket.bufferedAmount === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const unhook = this.onClose(resolve)
      this.#socket.ping('', false, () => {
        unhook()
        resolve()
      })
    })
  }

  #beat(silence: number): void {
    if (performance.now() - this.#heardAt >= silence) this.cut()
    else if (this.isOpen) this.#socket.ping()
  }

  #closed(): void {
    clearInterval(this.#heartbeat)
    this.#endAll()
  }

  #endAll(): void {
    for (const gone of [...this.#onClose]) gone()
    this.#onClose.clear()
  }
}
