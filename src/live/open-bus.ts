import type { Logger } from 'pino'
import { observe } from '../lib/metrics.ts'
import type { Bus } from './bus.ts'
import { PostgresBus } from './postgres-bus.ts'
import { openRedis, type RedisConnections } from './redis.ts'
import { RedisBus } from './redis-bus.ts'

/** How long hints may be out before work should go elsewhere (PLAT-28). */
const PATIENCE = 10_000
const TELL_EVERY = 60_000

export type OpenBus = {
  readonly bus: Bus
  /** Takes the hints of committed writes; undefined where they are notified. */
  readonly hints: RedisBus | undefined
  readonly redis: RedisConnections | undefined
  /** Whether hints arrive, or have for so short a time not that this may pass: by way, for `/readyz`. */
  readonly checks: Record<string, () => boolean>
}

/** PostgreSQL carries hints between processes, and Redis the many of them where there is one (DESIGN §3). */
export function openBus(options: { listenUrl: string; redisUrl: string; log: Logger }): OpenBus {
  const { listenUrl, redisUrl, log } = options
  const postgres = new PostgresBus({ url: listenUrl, log })
  const redis = redisUrl === '' ? undefined : openRedis(redisUrl, faultLog(log))
  const hints = redis && new RedisBus({ postgres, redis, log })
  observe('listener_confirmed', '1 while notifications of the database are known to arrive.', () =>
    Number(postgres.confirmed),
  )
  observe(
    'notify_queue_usage',
    'Share of the notification queue of the database in use.',
    () => postgres.figures.queueUsage,
  )
  observe('bus_subscriptions', 'Topics that readers in this process follow.', () => postgres.figures.subscriptions)
  observe('redis_confirmed', '1 while Redis is known to deliver; 0 also where there is none.', () =>
    Number(hints?.redisUnconfirmedSince === null),
  )
  return {
    bus: hints ?? postgres,
    hints,
    redis,
    checks: {
      listener: within(postgres.ready, () => postgres.unconfirmedSince),
      ...(hints && { redis: within(hints.redisReady, () => hints.redisUnconfirmedSince) }),
    },
  }
}

/** A Redis that is away fails anew with each attempt to reach it; once a minute says it. */
function faultLog(log: Logger): (error: Error) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  return (error) => {
    if (performance.now() - toldAt < TELL_EVERY) return
    toldAt = performance.now()
    log.warn({ err: error }, 'redis failed')
  }
}

function within(ready: Promise<void>, unconfirmedSince: () => number | null): () => boolean {
  let heard = false
  void ready.then(() => {
    heard = true
  })
  return () => heard && (unconfirmedSince() ?? Number.POSITIVE_INFINITY) > Date.now() - PATIENCE
}
