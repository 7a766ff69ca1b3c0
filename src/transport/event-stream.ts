import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ExecutionResult } from 'graphql'
import { frameBytes, framesSent } from '../lib/metrics.ts'
import type { FrameWriter, Outlet } from './outlet.ts'
import { resultJson } from './result-json.ts'

const PING = Buffer.from(':\n\n')
const COMPLETE = Buffer.from('event: complete\ndata:\n\n')
/** A peer that takes nothing for so many pings while bytes wait for it is gone. */
const STALLED_PINGS = 2

/** One response of server-sent events, in the distinct connections mode of graphql-sse. */
export class EventStream implements Outlet, FrameWriter {
  readonly connection = 'own'
  readonly body: Readable
  readonly #response: ServerResponse | undefined
  readonly #onClose = new Set<() => void>()
  readonly #waiting = new Set<() => void>()
  #pings: NodeJS.Timeout | undefined
  #closed = false
  #written = 0
  #takenAtPing = 0
  #stalled = 0

  /** `response` is there when node:http serves; else the body alone tells that the peer is gone. */
  constructor(response: ServerResponse | undefined) {
    this.#response = response
    this.body = new Body(() => this.#taken())
    this.body.once('close', () => this.#close())
    // Piping reports a broken peer here as well; the close says all there is to say.
    this.body.on('error', () => {})
    if (!response) return
    response.once('close', () => this.#close())
    response.on('drain', () => this.#taken())
    if (response.destroyed) this.#close()
  }

  /** Sends what is pulled from `results`, each when the one before it has been taken. */
  start(results: AsyncIterable<ExecutionResult>, pingEvery: number): void {
    this.#push(PING) // headers go out with the first byte
    if (this.#closed) return
    this.#pings = setInterval(() => this.#ping(), pingEvery)
    void this.#pump(results[Symbol.asyncIterator]())
  }

  onClose(gone: () => void): () => void {
    if (this.#closed) gone()
    else this.#onClose.add(gone)
    return () => this.#onClose.delete(gone)
  }

  writer(): FrameWriter {
    return this
  }

  write(json: string): void {
    const frame = nextFrame(json)
    framesSent.inc()
    frameBytes.inc(frame.length)
    this.#push(frame)
  }

  get unsent(): number {
    return this.body.readableLength + (this.#response?.writableLength ?? 0)
  }

  async drained(): Promise<void> {
    while (!this.#closed && this.#isBehind()) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  async #pump(results: AsyncIterator<ExecutionResult>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await results.next()
        if (this.#closed) return
        if (value) this.write(resultJson(value))
        if (done) break
        await this.drained()
      }
      this.#push(COMPLETE)
      this.body.push(null)
      clearInterval(this.#pings)
    } catch {
      this.body.destroy()
    }
  }

  #isBehind(): boolean {
    return this.body.readableLength > 0 || this.#response?.writableNeedDrain === true
  }

  #push(chunk: Buffer): void {
    if (this.#closed || this.body.readableEnded) return
    this.#written += chunk.length
    this.body.push(chunk)
  }

  #ping(): void {
    const taken = this.#written - this.unsent
    this.#stalled = this.unsent > 0 && taken === this.#takenAtPing ? this.#stalled + 1 : 0
    this.#takenAtPing = taken
    if (this.#stalled > STALLED_PINGS) this.#response?.destroy()
    else if (this.#stalled === 0) this.#push(PING)
  }

  #taken(): void {
    if (this.#isBehind()) return
    for (const resume of this.#waiting) resume()
    this.#waiting.clear()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#pings)
    for (const gone of [...this.#onClose]) gone()
    this.#onClose.clear()
    for (const resume of this.#waiting) resume()
    this.#waiting.clear()
  }
}

/** Says when something was read from it; Readable itself asks for more only once until it gets some. */
class Body extends Readable {
  readonly #onRead: () => void

  constructor(onRead: () => void) {
    super({ read() {} })
    this.#onRead = onRead
  }

  override read(size?: number): unknown {
    const chunk: unknown = super.read(size)
    this.#onRead()
    return chunk
  }
}

let lastFrame: { json: string; frame: Buffer } | undefined

/** A rendering that many get is one chunk for all of them. JSON has no line breaks of its own. */
function nextFrame(json: string): Buffer {
  if (lastFrame?.json === json) return lastFrame.frame
  const frame = Buffer.from(`event: next\ndata: ${json}\n\n`)
  lastFrame = { json, frame }
  return frame
}
