import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Bell } from '../lib/bell.ts'
import { queueClaims } from '../lib/metrics.ts'
import type { Bus } from '../live/bus.ts'
import { jittered } from './retry.ts'

/** A NOTIFY that got lost, and what became due meanwhile, wait this long. */
const POLL_EVERY = 2_000
const CLAIM_MAX = 100

/**
 * Work that waits in a table (DESIGN §4). A worker leases due units, so that no two do the same at once; each is done at
 * least once: the units of a worker that is gone are free when their leases end.
 */
export type LeasedWork<Unit> = {
  /** As the channel moothall_jobs and the metrics call it. */
  readonly kind: string
  /** Units that one process does at once. */
  readonly concurrency: number
  /** Leases up to so many due units to the worker, in a sweep operation of its own. */
  claim(worker: string, limit: number): Promise<readonly Unit[]>
  /**
   * Does one unit, in operations of its own, and writes how it ended, if the lease is still the worker's. What it throws
   * is logged, and the unit waits for the end of its lease. `signal` tells that the process ends: give the lease back.
   */
  work(unit: Unit, worker: string, signal: AbortSignal): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: kinds differ in their units
export type AnyLeasedWork = LeasedWork<any>

export type Workers = {
  /** Claims nothing more, waits that long for what runs, then tells it to give back its leases. Ends when all has. */
  stop(patience: number): Promise<void>
}

type Surroundings = { bus: Pick<Bus, 'subscribe' | 'onDoubt'>; log: Pick<Logger, 'warn'> }

/** One worker of each kind for this process. */
export function startWorkers(kinds: readonly AnyLeasedWork[], surroundings: Surroundings): Workers {
  const workers = kinds.map((kind) => new Worker(kind, surroundings))
  return {
    stop: async (patience) => {
      await Promise.all(workers.map((worker) => worker.stop(patience)))
    },
  }
}

class Worker<Unit> {
  readonly #kind: LeasedWork<Unit>
  readonly #log: Pick<Logger, 'warn'>
  /** Names the holder of a lease. */
  readonly #name = `${process.pid}-${randomBytes(8).toString('hex')}`
  readonly #bell = new Bell()
  readonly #running = new Set<Promise<void>>()
  readonly #ending = new AbortController()
  readonly #loop: Promise<void>
  readonly #detach: () => void
  #stopped: Promise<void> | undefined

  constructor(kind: LeasedWork<Unit>, { bus, log }: Surroundings) {
    this.#kind = kind
    this.#log = log
    const ring = () => this.#bell.ring()
    const detach = [bus.subscribe({ channel: 'jobs', kind: kind.kind }, ring), bus.onDoubt(ring)]
    this.#detach = () => {
      for (const end of detach) end()
    }
    this.#loop = this.#run()
  }

  stop(patience: number): Promise<void> {
    this.#stopped ??= this.#stop(patience)
    return this.#stopped
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const claimed = await this.#claim()
      for (const unit of claimed) this.#start(unit)
      // Until a claim finds nothing: more may be due than fitted into one.
      if (claimed.length === 0 && !this.#stopped) await this.#bell.rung(jittered(POLL_EVERY))
    }
  }

  async #claim(): Promise<readonly Unit[]> {
    const { kind, concurrency } = this.#kind
    const free = Math.min(concurrency - this.#running.size, CLAIM_MAX)
    if (free <= 0) return []
    try {
      const claimed = await this.#kind.claim(this.#name, free)
      if (claimed.length > 0) queueClaims.inc({ kind }, claimed.length)
      return claimed
    } catch (error) {
      this.#log.warn({ err: error, queue: kind }, 'queued work could not be claimed')
      return []
    }
  }

  #start(unit: Unit): void {
    const done = this.#kind
      .work(unit, this.#name, this.#ending.signal)
      .catch((error: unknown) => this.#log.warn({ err: error, queue: this.#kind.kind }, 'queued work failed'))
      .finally(() => {
        this.#running.delete(done)
        this.#bell.ring() // there is room for more
      })
    this.#running.add(done)
  }

  async #stop(patience: number): Promise<void> {
    this.#detach()
    this.#bell.ring()
    await this.#loop // a claim on its way is done too
    const waited = new AbortController()
    const late = delay(patience, undefined, { signal: waited.signal }).catch(() => {})
    await Promise.race([Promise.all(this.#running), late])
    waited.abort()
    this.#ending.abort()
    await Promise.all(this.#running)
  }
}
