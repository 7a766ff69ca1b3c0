import pg from 'pg'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { addressKey } from '../../src/platform/rate-limits/address.ts'
import { signInLimits, startAttempt } from '../../src/platform/rate-limits/attempt.ts'
import { RATE_LIMITS, type RateLimitKind } from '../../src/platform/rate-limits/limits.ts'
import { createRateLimiter } from '../../src/platform/rate-limits/rate-limiter.ts'
import { openRateLimitPool, postgresStore, type RateLimitStore } from '../../src/platform/rate-limits/stores.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

const SECRET = 'a secret of the instance'
const ADA = 'ada@example.org'
const HOME = '192.0.2.7'

const times = <T>(count: number, run: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => run(i)))

afterEach(() => {
  vi.useRealTimers()
})

describe('the rates', () => {
  it('PLAT-69 are these', () => {
    const rates = Object.entries(RATE_LIMITS).map(([kind, { points, seconds }]) => `${kind} ${points}/${seconds}s`)
    expect(rates).toEqual([
      'signInPersonAddress 5/900s',
      'signInAddress 50/900s',
      'signInPerson 20/3600s',
      'embedHandoff 30/600s',
      'anonymousSession 30/600s',
      'linkRedemption 100/600s',
      'loginRequest 20/3600s',
      'waitlistJoin 20/3600s',
      'spacePasscode 10/60s',
      'calendarFetches 60/3600s',
      'keyFailuresOfAddress 20/60s',
      'keyFailuresOfPrefix 20/60s',
      'personRequests 600/60s',
      'agentRequests 300/60s',
      'nobodyRequests 60/60s',
      'cost 200000/60s',
    ])
  })

  it.each(Object.keys(RATE_LIMITS) as RateLimitKind[])(
    'PLAT-69 lets exactly the limit of %s through, also at once',
    async (kind) => {
      const limiter = createRateLimiter({ secret: SECRET, points: { cost: 500 } })
      const limit = kind === 'cost' ? 500 : RATE_LIMITS[kind].points
      const states = await times(limit + 20, () => limiter.take(kind, 'x'))
      expect(states.filter(({ allowed }) => allowed)).toHaveLength(limit)
      expect(states[0]).toMatchObject({ allowed: true, limit, remaining: limit - 1, retryAfterSeconds: 0 })
      expect(states.at(-1)).toMatchObject({ allowed: false, limit, remaining: 0 })
      expect(await limiter.take(kind, 'y')).toMatchObject({ allowed: true })
    },
  )
})

describe('taking', () => {
  it('PLAT-69 gives everything back when the window ends, refusals do not prolong it', async () => {
    vi.useFakeTimers({ now: 0 })
    const limiter = createRateLimiter({ secret: SECRET, points: { nobodyRequests: 2 } })
    await limiter.take('nobodyRequests', HOME)
    vi.advanceTimersByTime(20_000)
    expect(await limiter.take('nobodyRequests', HOME)).toMatchObject({ remaining: 0, resetAt: new Date(60_000) })
    for (let second = 21; second < 60; second++) {
      vi.advanceTimersByTime(1_000)
      const refused = await limiter.take('nobodyRequests', HOME)
      expect(refused).toMatchObject({
        allowed: false,
        remaining: 0,
        resetAt: new Date(60_000),
        retryAfterSeconds: 60 - second,
      })
    }
    vi.advanceTimersByTime(1_000)
    expect(await limiter.take('nobodyRequests', HOME)).toMatchObject({
      allowed: true,
      remaining: 1,
      resetAt: new Date(120_000),
    })
  })

  it('PLAT-69 takes many points at once, and refuses a document that costs more than is left without counting it', async () => {
    const limiter = createRateLimiter({ secret: SECRET, points: { cost: 100 } })
    expect(await limiter.take('cost', 'u', 70)).toMatchObject({ allowed: true, remaining: 30 })
    expect(await limiter.take('cost', 'u', 31)).toMatchObject({ allowed: false, remaining: 30 })
    expect(await limiter.peek('cost', 'u')).toMatchObject({ limit: 100, remaining: 30 })
    expect(await limiter.take('cost', 'u', 30)).toMatchObject({ allowed: true, remaining: 0 })
    expect(await limiter.take('cost', 'u', 0)).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('PLAT-71 looks without taking', async () => {
    const limiter = createRateLimiter({ secret: SECRET })
    expect(await limiter.peek('personRequests', 'u')).toMatchObject({ allowed: true, limit: 600, remaining: 600 })
    await limiter.take('personRequests', 'u')
    await limiter.peek('personRequests', 'u')
    expect(await limiter.peek('personRequests', 'u')).toMatchObject({ remaining: 599 })
  })

  it('PLAT-69 tells keys of several parts apart', async () => {
    const limiter = createRateLimiter({ secret: SECRET, points: { signInPersonAddress: 1 } })
    for (const key of [['a', 'b'], ['a,b'], 'a,b', ['ab', ''], ['', 'ab'], 'ab']) {
      expect(await limiter.take('signInPersonAddress', key)).toMatchObject({ allowed: true })
    }
  })
})

describe('attempts', () => {
  it('PLAT-69 counts failed sign-ins only: a right password is forgiven', async () => {
    const limiter = createRateLimiter({ secret: SECRET })
    const signIn = async (isRight: boolean) => {
      const attempt = await startAttempt(limiter, signInLimits(ADA, HOME))
      if (attempt.allowed && isRight) await attempt.forgive()
      return attempt.allowed
    }
    for (let i = 0; i < 60; i++) expect(await signIn(true)).toBe(true)
    for (let i = 0; i < 5; i++) expect(await signIn(false)).toBe(true)
    expect(await signIn(true)).toBe(false)
    expect(await limiter.peek('signInPerson', ADA)).toMatchObject({ remaining: 15 })
    expect(await limiter.peek('signInAddress', HOME)).toMatchObject({ remaining: 45 })
  })

  it('PLAT-70 lets no more than five of many simultaneous tries through', async () => {
    const limiter = createRateLimiter({ secret: SECRET })
    const attempts = await times(40, () => startAttempt(limiter, signInLimits(ADA, HOME)))
    expect(attempts.filter(({ allowed }) => allowed)).toHaveLength(5)
    expect(attempts.at(-1)).toEqual({ allowed: false, retryAfterSeconds: 900 })
    expect(await startAttempt(limiter, signInLimits('eve@example.org', HOME))).toMatchObject({ allowed: true })
  })

  it('PLAT-69 stops a person after 20 failures from any addresses, an address after 50 failures of any people', async () => {
    const limiter = createRateLimiter({ secret: SECRET })
    const person = await times(30, (i) => startAttempt(limiter, signInLimits(ADA, `192.0.2.${i}`)))
    expect(person.filter(({ allowed }) => allowed)).toHaveLength(20)
    expect(person.at(-1)).toEqual({ allowed: false, retryAfterSeconds: 3600 })
    const address = await times(60, (i) => startAttempt(limiter, signInLimits(`p${i}@example.org`, '198.51.100.1')))
    expect(address.filter(({ allowed }) => allowed)).toHaveLength(50)
  })
})

describe('a store that fails', () => {
  const broken: RateLimitStore = ({ kind, points, seconds }) => {
    const fail = () => Promise.reject(new Error('store is down'))
    return Object.assign(new RateLimiterMemory({ keyPrefix: kind, points, duration: seconds }), {
      consume: fail,
      reward: fail,
      get: fail,
    })
  }

  it('PLAT-70 refuses sign-ins, lets signed-in work pass, and is counted', async () => {
    const failures: string[] = []
    const limiter = createRateLimiter({ secret: SECRET, shared: broken, onStoreFailure: (kind) => failures.push(kind) })
    for (const kind of ['signInPersonAddress', 'signInAddress', 'signInPerson', 'anonymousSession'] as const) {
      expect(await limiter.take(kind, ADA)).toMatchObject({ allowed: false, counted: false, retryAfterSeconds: 5 })
    }
    for (let i = 0; i < 30; i++)
      expect(await limiter.take('spacePasscode', ADA)).toMatchObject({ allowed: true, counted: false })
    expect(failures).toHaveLength(34)
    expect(await limiter.take('personRequests', ADA)).toMatchObject({ allowed: true, counted: true })
    expect(await startAttempt(limiter, signInLimits(ADA, HOME))).toEqual({ allowed: false, retryAfterSeconds: 5 })
    await limiter.giveBack('spacePasscode', ADA)
    expect(failures).toHaveLength(36)
  })
})

describe('addresses', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:c000:0207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['', 'unknown'],
    ['localhost', 'unknown'],
    ['192.0.2.7:80', 'unknown'],
  ])('PLAT-69 counts %s as %s', (address, key) => {
    expect(addressKey(address)).toBe(key)
  })
})

describe('counters in PostgreSQL', () => {
  let database: TestDatabase
  let pools: [pg.Pool, pg.Pool]
  let owner: pg.Client

  beforeAll(async () => {
    database = await createDatabase()
    pools = [openRateLimitPool(database.appUrl), openRateLimitPool(database.appUrl)]
    owner = new pg.Client(database.ownerUrl)
    await owner.connect()
  })

  afterAll(async () => {
    await Promise.all([...(pools ?? []).map((pool) => pool.end()), owner?.end()])
    await database?.drop()
  })

  it('PLAT-69 are shared by all processes and exact when they count at once', async () => {
    const limiters = pools.map((pool) => createRateLimiter({ secret: SECRET, shared: postgresStore(pool) }))
    const attempts = await times(30, (i) => startAttempt(limiters[i % 2]!, signInLimits(ADA, HOME)))
    const allowed = attempts.filter((attempt) => attempt.allowed)
    expect(allowed.length).toBeLessThanOrEqual(5)
    await Promise.all(allowed.map((attempt) => attempt.forgive()))
    expect(await limiters[0]!.peek('signInPersonAddress', [ADA, HOME])).toMatchObject({ remaining: 5 })

    for (let i = 0; i < 5; i++)
      expect((await startAttempt(limiters[i % 2]!, signInLimits(ADA, HOME))).allowed).toBe(true)
    for (const limiter of limiters) expect((await startAttempt(limiter, signInLimits(ADA, HOME))).allowed).toBe(false)
    expect(await limiters[1]!.peek('signInPerson', ADA)).toMatchObject({ remaining: 15 })
  })

  it('PLAT-69 give everything back when the window ends', async () => {
    const limiter = createRateLimiter({ secret: SECRET, shared: postgresStore(pools[0], { prepared: false }) })
    const states = await times(31, () => limiter.take('anonymousSession', HOME))
    expect(states.filter(({ allowed }) => allowed).length).toBeLessThanOrEqual(30)
    while ((await limiter.take('anonymousSession', HOME)).allowed) {}
    const { resetAt, retryAfterSeconds } = await limiter.take('anonymousSession', HOME)
    expect(retryAfterSeconds).toBeGreaterThan(590)
    expect(resetAt.getTime()).toBeGreaterThan(Date.now() + 590_000)

    await owner.query(`UPDATE platform.rate_limits SET expire = $1 WHERE key LIKE 'anonymousSession:%'`, [
      Date.now() - 1,
    ])
    expect(await limiter.take('anonymousSession', HOME)).toMatchObject({ allowed: true, remaining: 29 })
  })

  it('PLAT-82 store no email and no address, and other keys under another secret', async () => {
    const keys = async () =>
      (await owner.query<{ key: string }>('SELECT key FROM platform.rate_limits ORDER BY key')).rows
    const before = await keys()
    expect(before.length).toBeGreaterThanOrEqual(4)
    for (const { key } of before) expect(key).toMatch(/^[a-zA-Z]+:[A-Za-z0-9_-]{43}$/)

    const same = createRateLimiter({ secret: SECRET, shared: postgresStore(pools[1]) })
    await same.giveBack('signInPerson', ADA)
    expect(await keys()).toEqual(before)
    const other = createRateLimiter({ secret: 'another secret', shared: postgresStore(pools[1]) })
    await other.take('signInPerson', ADA)
    expect(await keys()).toHaveLength(before.length + 1)
  })

  it('PLAT-70 refuse sign-ins when the table cannot be written', async () => {
    const errors: unknown[] = []
    const limiter = createRateLimiter({
      secret: SECRET,
      shared: postgresStore(pools[0]),
      onStoreFailure: (_, error) => errors.push(error),
    })
    await owner.query('ALTER TABLE platform.rate_limits RENAME TO gone')
    expect(await limiter.take('signInAddress', HOME)).toMatchObject({ allowed: false, counted: false })
    expect(await limiter.take('spacePasscode', [ADA, 'space'])).toMatchObject({ allowed: true, counted: false })
    await owner.query('ALTER TABLE platform.gone RENAME TO rate_limits')
    expect(errors).toHaveLength(2)
    expect(await limiter.take('signInAddress', HOME)).toMatchObject({ allowed: true, counted: true })
  })
})
