import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { pruneSessions } from '../../src/identity/sweeps.ts'
import { pruneRateLimits } from '../../src/platform/sweeps.ts'
import { startSweeps } from '../../src/queue/sweeps.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

it('ID-20 keeps sign-ins for 30 days after their end, then removes them', async () => {
  const ended = async (days: number) => {
    const { sessionId } = await world.member()
    await world.sql(
      `UPDATE identity.sessions SET revoked_at = now() - make_interval(days => $2), revoke_reason = 'logout' WHERE id = $1`,
      [sessionId, days],
    )
    return sessionId
  }
  const [recent, old, idle] = [await ended(29), await ended(31), (await world.member()).sessionId]
  await world.sql(
    `UPDATE identity.sessions SET last_seen_at = now() - interval '45 days', created_at = now() - interval '50 days' WHERE id = $1`,
    [idle],
  )
  await pruneSessions()
  const left = await world.sql<{ id: string }>('SELECT id FROM identity.sessions WHERE id = ANY ($1)', [
    [recent, old, idle],
  ])
  expect(left.map(({ id }) => id)).toEqual([recent])
})

it('PLAT-82 removes counters whose time is over, and no other', async () => {
  await world.sql(
    `INSERT INTO platform.rate_limits (key, points, expire) VALUES ('over', 1, 1), ('runs', 1, 99999999999999), ('endless', 1, NULL)`,
  )
  await pruneRateLimits()
  const left = await world.sql<{ key: string }>(
    `SELECT key FROM platform.rate_limits WHERE key IN ('over', 'runs', 'endless') ORDER BY key`,
  )
  expect(left.map(({ key }) => key)).toEqual(['endless', 'runs'])
})

it('PLAT-74 waits for a sweep that runs, starts none afterwards, and lives on when one fails', async () => {
  const warned: string[] = []
  const log = { warn: (line: { sweep: string }) => warned.push(line.sweep) } as never
  const running = Promise.withResolvers<void>()
  let rounds = 0
  const sweeps = startSweeps(
    [
      { name: 'failing', every: 1, work: () => Promise.reject(new Error('no')) },
      {
        name: 'slow',
        every: 1,
        work: () => {
          rounds++
          return running.promise
        },
      },
    ],
    log,
  )
  await vi.waitFor(() => expect([rounds, warned.length > 2]).toEqual([1, true]), 10_000)
  let stopped = false
  const stop = sweeps.stop().then(() => (stopped = true))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(stopped).toBe(false)
  running.resolve()
  await stop
  const before = warned.length
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([rounds, warned.length]).toEqual([1, before])
})
