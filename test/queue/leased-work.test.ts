import { describe, expect, it, vi } from 'vitest'
import { type LeasedWork, startWorkers } from '../../src/queue/leased-work.ts'
import { pauseAfter } from '../../src/queue/retry.ts'

/** A bus of which the test rings the bell. */
function bells() {
  const followers = new Set<() => void>()
  const follow = (_: unknown, ring: () => void) => {
    followers.add(ring)
    return () => void followers.delete(ring)
  }
  return {
    bus: { subscribe: follow as never, onDoubt: (ring: () => void) => follow(null, ring) },
    ring: () => {
      for (const follower of followers) follower()
    },
    followers,
  }
}
const warnings: unknown[] = []
const log = { warn: (warning: unknown) => void warnings.push(warning) } as never

function work(units: string[], doing: LeasedWork<string>['work'], concurrency = 10): LeasedWork<string> {
  return {
    kind: 'test',
    concurrency,
    claim: async (_worker, limit) => units.splice(0, limit),
    work: doing,
  }
}

describe('DESIGN §4 leased work', () => {
  it('PLAT-41 does no more at once than it may, and all that there is without another call', async () => {
    const units = Array.from({ length: 25 }, (_, at) => String(at))
    const done: string[] = []
    let now = 0
    let most = 0
    const { bus, ring } = bells()
    const workers = startWorkers(
      [
        work(
          units,
          async (unit) => {
            most = Math.max(most, ++now)
            await new Promise((resolve) => setImmediate(resolve))
            now--
            done.push(unit)
          },
          4,
        ),
      ],
      { bus, log },
    )
    ring()
    await vi.waitUntil(() => done.length === 25, { timeout: 5_000 })
    expect(most).toBe(4)
    await workers.stop(0)
  })

  it('PLAT-41 polls when nobody calls, and goes on after a claim that failed', async () => {
    const { bus } = bells()
    const done: string[] = []
    let claims = 0
    const units: LeasedWork<string> = {
      kind: 'test',
      concurrency: 1,
      claim: async () => {
        claims++
        if (claims === 1) throw new Error('no database')
        return claims === 2 ? ['late'] : []
      },
      work: async (unit) => void done.push(unit),
    }
    warnings.length = 0
    const begun = Date.now()
    const workers = startWorkers([units], { bus, log })
    await vi.waitUntil(() => done.length === 1, { timeout: 10_000 })
    expect(Date.now() - begun).toBeGreaterThan(1_500) // two seconds, give or take a fifth
    expect(warnings).toHaveLength(1)
    await workers.stop(0)
  })

  it('PLAT-74 claims nothing more when it stops, waits for what runs, then tells it to give its lease back', async () => {
    const { bus, ring, followers } = bells()
    const quick = Promise.withResolvers<void>()
    const ended: string[] = []
    const units = ['quick', 'stuck']
    const workers = startWorkers(
      [
        work(units, async (unit, _worker, signal) => {
          if (unit === 'quick') await quick.promise
          else await new Promise((resolve) => signal.addEventListener('abort', resolve))
          ended.push(`${unit} ${signal.aborted}`)
        }),
      ],
      { bus, log },
    )
    ring()
    await vi.waitUntil(() => units.length === 0, { timeout: 15_000 })
    const stopping = workers.stop(300)
    units.push('late')
    quick.resolve()
    await stopping
    expect(ended).toEqual(['quick false', 'stuck true'])
    expect(units).toEqual(['late'])
    expect(followers.size).toBe(0)
  })

  it('PLAT-42 waits longer after each failure, give or take a fifth, and ends after the last', () => {
    const policy = { pauses: [5_000, 30_000], maxAttempts: 4 }
    for (const [failures, pause] of [
      [1, 5_000],
      [2, 30_000],
      [3, 30_000],
    ] as const) {
      const tried = Array.from({ length: 200 }, () => pauseAfter(failures, policy)!)
      expect(Math.min(...tried)).toBeGreaterThanOrEqual(pause * 0.8)
      expect(Math.max(...tried)).toBeLessThanOrEqual(pause * 1.2)
      expect(Math.max(...tried) - Math.min(...tried)).toBeGreaterThan(pause * 0.2)
    }
    expect(pauseAfter(4, policy)).toBe(null)
  })
})
