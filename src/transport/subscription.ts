import type { ExecutionResult } from 'graphql'
import type { DirectStream, Sink, Subscriber } from '../live/direct-stream.ts'
import { BoundedWriter, type Outlet } from './outlet.ts'

type Result = IteratorResult<ExecutionResult, undefined>

const DONE: Result = { done: true, value: undefined }

export type SubscriptionOptions = {
  outlet: Outlet
  /** Turns one event of the source into a result, in an operation of its own. */
  execute(event: unknown): Promise<ExecutionResult>
  /** The result that tells of an error of the source. */
  failed(error: unknown): ExecutionResult
  /** Called once, when it has ended for whatever reason. */
  onEnd(): void
}

/**
 * A subscription as transports pull it. Ending it closes the source at once, whatever it is waiting for: pulling, a
 * result being made, or `subscribe` still pending (PLAT-30). After the end nothing comes but the reason given for it.
 */
export class Subscription implements AsyncIterableIterator<ExecutionResult, undefined> {
  readonly #options: SubscriptionOptions
  readonly #unhook: () => void
  #source: AsyncIterator<unknown> | undefined
  #direct: { stream: DirectStream; subscriber: Omit<Subscriber, 'sink'>; opened: boolean } | undefined
  #ended = false
  #last: ExecutionResult | undefined
  #pulled: PromiseWithResolvers<Result> | undefined

  constructor(options: SubscriptionOptions) {
    this.#options = options
    this.#unhook = options.outlet.onClose(() => this.end())
    if (this.#ended) this.#unhook()
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Gives it the source that `subscribe` answered with. */
  pullFrom(source: AsyncIterable<unknown>): void {
    const iterator = source[Symbol.asyncIterator]()
    if (this.#ended) closeQuietly(iterator)
    else this.#source = iterator
  }

  /** Gives it a stream that writes by itself, from the first pull on. */
  openWith(stream: DirectStream, subscriber: Omit<Subscriber, 'sink'>): void {
    if (this.#ended) stream.close()
    else this.#direct = { stream, subscriber, opened: false }
  }

  next(): Promise<Result> {
    if (this.#ended) return Promise.resolve(this.#lastResult())
    const pulled = Promise.withResolvers<Result>()
    this.#pulled = pulled
    if (this.#direct) this.#open(this.#direct)
    else void this.#pull()
    return pulled.promise
  }

  return(): Promise<Result> {
    this.end()
    this.#last = undefined
    return Promise.resolve(DONE)
  }

  throw(error: unknown): Promise<Result> {
    this.end()
    return Promise.reject(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Ends it; `last` is still given to the peer, if it pulls. */
  end(last?: ExecutionResult): void {
    if (this.#ended) return
    this.#ended = true
    this.#last = last
    this.#unhook?.() // not there yet when the peer was gone from the start
    this.#direct?.stream.close()
    if (this.#source) closeQuietly(this.#source)
    this.#source = undefined
    this.#options.onEnd()
    this.#pulled?.resolve(this.#lastResult())
  }

  async #pull(): Promise<void> {
    try {
      const { done, value } = await (this.#source as AsyncIterator<unknown>).next()
      if (this.#ended) return
      if (done) return this.end()
      const result = await this.#options.execute(value)
      if (!this.#ended) this.#pulled?.resolve({ done: false, value: result })
    } catch (error) {
      if (!this.#ended) this.end(this.#options.failed(error))
    }
  }

  /** Transports pull again only when the last result is out, so from here on nothing overtakes it. */
  #open(direct: { stream: DirectStream; subscriber: Omit<Subscriber, 'sink'>; opened: boolean }): void {
    if (direct.opened) return
    direct.opened = true
    direct.stream.open({ ...direct.subscriber, sink: this.#sink() }).catch((error: unknown) => {
      if (!this.#ended) this.end(this.#options.failed(error))
    })
  }

  #sink(): Sink {
    const frames = this.#options.outlet.writer()
    const writer = new BoundedWriter(frames)
    const open = () => !this.#ended
    const end = (json?: string) => {
      if (json !== undefined && open()) frames.write(json) // a reason to end is told in any case
      this.end()
    }
    return {
      send: (json) => open() && writer.write(json),
      get unsent() {
        return open() ? writer.unsent : 0
      },
      drained: () => (open() ? writer.drained() : Promise.resolve()),
      end,
    }
  }

  #lastResult(): Result {
    const last = this.#last
    this.#last = undefined
    return last ? { done: false, value: last } : DONE
  }
}

/** Nobody waits for a source to have closed, and nobody could do anything about its failing to. */
function closeQuietly(iterator: AsyncIterator<unknown>): void {
  try {
    Promise.resolve(iterator.return?.()).catch(() => {})
  } catch {
    // as above
  }
}
