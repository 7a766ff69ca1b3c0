import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openRedis, type RedisConnections } from '../../src/live/redis.ts'
import { signInLimits, startAttempt } from '../../src/platform/rate-limits/attempt.ts'
import { createRateLimiter, type RateLimiter } from '../../src/platform/rate-limits/rate-limiter.ts'
import { redisStore } from '../../src/platform/rate-limits/stores.ts'
import { redisVersion, startRedis, type TestRedis } from '../support/redis.ts'

describe.skipIf(redisVersion === null)('rates counted in Redis', () => {
  let redis: TestRedis
  const connections: RedisConnections[] = []
  const failures = vi.fn()

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()))
    await redis?.remove()
  })

  /** A process of its own, as far as counting goes. */
  async function limiterOf(store?: Parameters<typeof createRateLimiter>[0]['shared']): Promise<RateLimiter> {
    const connection = openRedis(redis.url, () => {})
    connections.push(connection)
    await vi.waitUntil(() => connection.commands.status === 'ready', { timeout: 5_000, interval: 5 })
    const shared = store ?? redisStore(connection.commands)
    return createRateLimiter({ secret: 'a secret', shared, onStoreFailure: failures })
  }

  it('PLAT-69 are shared by all processes and exact when they count at once', async () => {
    const limiters = await Promise.all([limiterOf(), limiterOf(), limiterOf()])
    const tries = Array.from({ length: 60 }, (_, at) => limiters[at % 3]!.take('anonymousSession', '192.0.2.7'))
    const allowed = (await Promise.all(tries)).filter((state) => state.allowed)
    expect(allowed).toHaveLength(30)
    expect(await limiters[0]!.peek('anonymousSession', '192.0.2.7')).toMatchObject({ remaining: 0 })
    expect(await limiters[0]!.take('anonymousSession', '192.0.2.8')).toMatchObject({ allowed: true, remaining: 29 })
  })

  it('PLAT-69 forgive a right password on every process, and a refusal does not prolong itself', async () => {
    const [one, two] = await Promise.all([limiterOf(), limiterOf()])
    const limits = signInLimits('ada@example.org', '192.0.2.9')
    for (let failed = 0; failed < 4; failed++) await startAttempt(one, limits)
    const right = await startAttempt(two, limits)
    expect(right.allowed).toBe(true)
    if (right.allowed) await right.forgive()
    expect((await startAttempt(one, limits)).allowed).toBe(true)
    const refused = await startAttempt(two, limits)
    expect(refused.allowed).toBe(false)
    const before = await one.peek('signInPersonAddress', ['ada@example.org', '192.0.2.9'])
    await delay(1_100)
    await startAttempt(two, limits)
    const after = await one.peek('signInPersonAddress', ['ada@example.org', '192.0.2.9'])
    expect(after.resetAt.getTime()).toBeLessThan(before.resetAt.getTime() + 500)
  })

  it('PLAT-69 give everything back when the window ends', async () => {
    const connection = openRedis(redis.url, () => {})
    connections.push(connection)
    await vi.waitUntil(() => connection.commands.status === 'ready', { timeout: 5_000, interval: 5 })
    const limiter = await limiterOf(({ kind, points }) => redisStore(connection.commands)({ kind, points, seconds: 1 }))
    for (let taken = 0; taken < 10; taken++) await limiter.take('spacePasscode', 'x')
    expect(await limiter.take('spacePasscode', 'x')).toMatchObject({ allowed: false, retryAfterSeconds: 1 })
    await vi.waitUntil(async () => (await limiter.take('spacePasscode', 'x')).allowed, { timeout: 5_000, interval: 50 })
    expect(await limiter.peek('spacePasscode', 'x')).toMatchObject({ remaining: 9 })
  })

  it('PLAT-70 refuse sign-ins within the second while Redis hangs or is away, count nothing twice, and let the rest pass', async () => {
    const limiter = await limiterOf()
    for (const trouble of ['SIGSTOP', 'SIGKILL'] as const) {
      redis.signal(trouble)
      failures.mockClear()
      const since = performance.now()
      const [signIn, passcode] = await Promise.all([
        limiter.take('signInAddress', 'somewhere'),
        limiter.take('spacePasscode', 'somebody'),
      ])
      expect(performance.now() - since).toBeLessThan(2_000)
      expect(signIn).toMatchObject({ allowed: false, counted: false, retryAfterSeconds: 5 })
      expect(passcode).toMatchObject({ allowed: true, counted: false })
      expect(failures).toHaveBeenCalledTimes(2)
      if (trouble === 'SIGSTOP') redis.signal('SIGCONT')
    }
    await redis.kill()
    await redis.start()
    await vi.waitUntil(async () => (await limiter.take('signInAddress', 'elsewhere')).allowed, {
      timeout: 15_000,
      interval: 50,
    })
  })
})
