import { createHmac, hkdfSync } from 'node:crypto'
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { limiterFailures, rateLimited } from '../../lib/metrics.ts'
import { RATE_LIMITS, type RateLimit, type RateLimitKind } from './limits.ts'
import { memoryStore, type RateLimitStore } from './stores.ts'

/** Whom a limit counts: an id, an email, an address by `addressKey`, or several of them together. */
export type RateLimitKey = string | readonly string[]

export type RateLimitState = {
  allowed: boolean
  limit: number
  remaining: number
  resetAt: Date
  /** Zero when allowed. */
  retryAfterSeconds: number
  /** False when the store failed: nothing was counted, whatever the answer. */
  counted: boolean
}

export interface RateLimiter {
  /**
   * Takes points of a limit. What is refused is not counted, so a refusal never prolongs itself. `most`: another number of
   * points than all have, of a limit that each process counts for itself.
   */
  take(kind: RateLimitKind, key: RateLimitKey, points?: number, most?: number): Promise<RateLimitState>
  /** Gives points back that `take` allowed. */
  giveBack(kind: RateLimitKind, key: RateLimitKey, points?: number): Promise<void>
  /** Where a limit stands, taking nothing. */
  peek(kind: RateLimitKind, key: RateLimitKey): Promise<RateLimitState>
}

export type RateLimiterOptions = {
  /** Where credentials are counted (`store: 'shared'`); default this process. */
  shared?: RateLimitStore
  /** Any secret of the instance; keys in the shared store are HMACs under a key derived from it. */
  secret: Uint8Array | string
  /** Other rates than the defaults. */
  points?: Partial<Record<RateLimitKind, number>>
  /** Counts and logs a failure of the shared store. */
  onStoreFailure?: (kind: RateLimitKind, error: unknown) => void
}

const RETRY_AFTER_FAILURE = 5_000

/** Counts in windows that open with the first point taken and give all points back at their end. */
export function createRateLimiter({
  shared = memoryStore,
  secret,
  points = {},
  onStoreFailure,
}: RateLimiterOptions): RateLimiter {
  const hmacKey = Buffer.from(hkdfSync('sha256', secret, '', 'moothall rate limits', 32))
  const counters = new Map<RateLimitKind, Counter>()
  for (const [name, limit] of Object.entries(RATE_LIMITS)) {
    const kind = name as RateLimitKind
    const most = points[kind] ?? limit.points
    const store = limit.store === 'shared' ? shared : memoryStore
    counters.set(kind, { limit, most, store: store({ kind, points: most, seconds: limit.seconds }) })
  }

  const own = new Map<string, Counter>()

  function counterOf(kind: RateLimitKind, most: number | undefined): Counter {
    const counter = counters.get(kind)!
    if (most === undefined || most === counter.most) return counter
    const name = `${kind} ${most}`
    const { limit } = counter
    const made = own.get(name) ?? {
      limit,
      most,
      store: memoryStore({ kind: name, points: most, seconds: limit.seconds }),
    }
    own.set(name, made)
    return made
  }

  /** What stays in this process may keep its name; what is stored names nobody. */
  function keyOf({ limit }: Counter, key: RateLimitKey): string {
    const name = JSON.stringify(key)
    return limit.store === 'process' ? name : createHmac('sha256', hmacKey).update(name).digest('base64url')
  }

  function told(kind: RateLimitKind, error: unknown): void {
    limiterFailures.inc({ kind })
    onStoreFailure?.(kind, error)
  }

  function failed(kind: RateLimitKind, error: unknown): RateLimitState {
    told(kind, error)
    const { limit, most } = counters.get(kind)!
    const answer =
      limit.onStoreFailure === 'pass' ? state(most, most, 0, true) : state(most, 0, RETRY_AFTER_FAILURE, false)
    return { ...answer, counted: false }
  }

  return {
    async take(kind, key, count = 1, most) {
      const counter = counterOf(kind, most)
      const stored = keyOf(counter, key)
      try {
        const { remainingPoints, msBeforeNext } = await counter.store.consume(stored, count)
        return state(counter.most, remainingPoints, msBeforeNext, true)
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) return failed(kind, error)
        rateLimited.inc({ kind })
        await counter.store.reward(stored, count).catch((failure) => told(kind, failure))
        const remaining = counter.most - (error.consumedPoints - count)
        return state(counter.most, remaining, error.msBeforeNext, false)
      }
    },

    async giveBack(kind, key, count = 1) {
      const counter = counters.get(kind)!
      await counter.store.reward(keyOf(counter, key), count).catch((failure) => told(kind, failure))
    },

    async peek(kind, key) {
      const counter = counters.get(kind)!
      try {
        const counted = await counter.store.get(keyOf(counter, key))
        return state(counter.most, counted?.remainingPoints ?? counter.most, counted?.msBeforeNext ?? 0, true)
      } catch (error) {
        return failed(kind, error)
      }
    },
  }
}

type Counter = { limit: RateLimit; most: number; store: RateLimiterAbstract }

function state(limit: number, remaining: number, msBeforeNext: number, allowed: boolean): RateLimitState {
  return {
    allowed,
    limit,
    remaining: Math.min(Math.max(remaining, 0), limit),
    resetAt: new Date(Date.now() + msBeforeNext),
    retryAfterSeconds: allowed ? 0 : Math.max(Math.ceil(msBeforeNext / 1000), 1),
    counted: true,
  }
}
