import type { Server, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

export type DrainOptions = {
  /** How long work is still taken while balancers learn that we are leaving. */
  delay: number
  /** How long running requests are awaited before they are cut off. */
  timeout: number
  /** Ends what would never end by itself: streams complete, sockets close, no more work is claimed. */
  endStreams(): Promise<unknown>
  /** Cuts off the sockets that are left. */
  cutSockets(): void
}

/** Who is being served, and whether anybody new is (PLAT-74). */
export class Traffic {
  readonly #running = new Set<ServerResponse>()
  #state: 'open' | 'leaving' | 'closed' = 'open'
  #idle = Promise.withResolvers<void>()

  /** No longer ready: balancers should send work elsewhere. */
  get draining(): boolean {
    return this.#state !== 'open'
  }

  /** New operations are refused. */
  get closed(): boolean {
    return this.#state === 'closed'
  }

  /** How many requests are being answered. */
  get running(): number {
    return this.#running.size
  }

  /** Counts a request until its answer is through or its connection gone. */
  add(response: ServerResponse): void {
    this.#running.add(response)
    if (this.closed) response.shouldKeepAlive = false
    response.once('close', () => {
      this.#running.delete(response)
      if (this.closed && this.#running.size === 0) this.#idle.resolve()
    })
  }

  /** Lets everything that runs come to its end, and refuses what comes anew. */
  async drain(server: Server, { delay: leave, timeout, endStreams, cutSockets }: DrainOptions): Promise<void> {
    this.#state = 'leaving'
    if (leave > 0) await delay(leave)
    this.#state = 'closed'
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    // An answer that still waits for its first byte tells its client that the connection ends with it.
    for (const response of this.#running) if (!response.headersSent) response.shouldKeepAlive = false
    if (this.#running.size === 0) this.#idle.resolve()

    const patience = new AbortController()
    const ended = Promise.all([endStreams(), this.#idle.promise])
    await Promise.race([ended, delay(timeout, undefined, { signal: patience.signal }).catch(() => {})])
    patience.abort()
    cutSockets()
    server.closeAllConnections()
    await closed
  }
}
