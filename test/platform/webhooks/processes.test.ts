import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/database.ts'
import { gate } from '../../support/receiver.ts'
import { type ServerProcess, startProcess } from '../../support/server-process.ts'
import { all, WebhookWorld } from './webhook-world.ts'

const eventOf = ({ headers }: { headers: Record<string, unknown> }) => String(headers['webhook-id'])

describe('two server processes on one database', () => {
  let database: TestDatabase
  let one: ServerProcess
  let two: ServerProcess
  let hooks: WebhookWorld

  beforeAll(async () => {
    database = await createDatabase()
    ;[one, two] = await Promise.all([startProcess(database), startProcess(database)])
    hooks = await WebhookWorld.open(one)
  }, 120_000)
  afterAll(async () => {
    await hooks?.close()
    await two?.close()
    await database?.drop()
  })

  it('PLAT-41 sends each change once to each endpoint, at most four at a time, and both processes take part', async () => {
    const spaces = [await hooks.space(), await hooks.space()]
    const slow = () => hooks.receivers.open(() => new Promise((resolve) => setTimeout(() => resolve({}), 30)))
    const ofSpaces = await Promise.all(spaces.map((space) => hooks.endpoint({ space, receiver: slow() })))
    const ofOrg = await hooks.endpoint({ eventTypes: ['room.created'], receiver: slow() })
    for (let at = 0; at < 15; at++) await Promise.all(spaces.map((space) => hooks.fact(space)))
    const [first, second] = ofSpaces as [(typeof ofSpaces)[0], (typeof ofSpaces)[0]]
    await Promise.all([
      hooks.untilDeliveries(first, all('delivered', 15)),
      hooks.untilDeliveries(second, all('delivered', 15)),
      hooks.untilDeliveries(ofOrg, all('delivered', 30)),
    ])
    for (const [endpoint, count] of [
      [first, 15],
      [second, 15],
      [ofOrg, 30],
    ] as const) {
      const { received, waiting } = endpoint.receiver
      expect(received).toHaveLength(count)
      expect(new Set(received.map(eventOf)).size).toBe(count)
      expect(waiting.most).toBeLessThanOrEqual(4)
    }
    const workers = await hooks.world.sql('SELECT DISTINCT worker FROM platform.webhook_attempts')
    expect(workers).toHaveLength(2)
  })

  it('PLAT-41 has four under way where forty are due, with four processes that send', async () => {
    const more = await Promise.all([startProcess(database), startProcess(database)])
    const space = await hooks.space()
    const held = gate()
    const endpoint = await hooks.endpoint({
      space,
      receiver: hooks.receivers.open(() => held.promise.then(() => ({}))),
    })
    for (let at = 0; at < 10; at++) await Promise.all(Array.from({ length: 4 }, () => hooks.fact(space)))
    await endpoint.receiver.until(4)
    // Another endpoint is served meanwhile by both, so they have claimed again and again.
    const other = await hooks.endpoint({ space: await hooks.space() })
    for (let at = 1; at <= 5; at++) {
      await hooks.world.owner.mutate('webhookTest', { id: other.id })
      await other.receiver.until(at)
    }
    expect(endpoint.receiver.received).toHaveLength(4)
    held.resolve()
    await hooks.untilDeliveries(endpoint, all('delivered', 40))
    expect(endpoint.receiver.waiting.most).toBe(4)
    expect(endpoint.receiver.received).toHaveLength(40)
    await Promise.all(more.map((process) => process.kill()))
  }, 180_000)
})

it('PLAT-41 after kill -9 between the answer and its record there is a second attempt, with the same id and bytes', async () => {
  const database = await createDatabase()
  const first = await startProcess(database)
  const hooks = await WebhookWorld.open(first)
  let second: ServerProcess | undefined
  try {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space })
    const killed = gate()
    endpoint.receiver.answer = async () => {
      await first.kill() // it has sent, and is gone before it could write anything down
      killed.resolve()
      return {}
    }
    await hooks.fact(space).catch(() => {}) // its answer may be lost too
    await killed.promise
    const [row] = await hooks.deliveries(endpoint)
    expect(row).toMatchObject({ state: 'pending', attempts: 1, locked_by: expect.any(String) })
    endpoint.receiver.answer = () => ({})

    second = await startProcess(database)
    await hooks.world.sql(`SELECT platform.notify_jobs('webhook_delivery')`)
    const other = await hooks.world.sql(
      `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, space_id, deliverable)
       VALUES ($1, 'activity', 'room.ended', 'system', $2, true) RETURNING id`,
      [space.orgId, space.uuid],
    )
    expect(other).toHaveLength(1)
    await endpoint.receiver.until(2) // the later fact: the leased one is not touched before its lease ends
    expect(eventOf(endpoint.receiver.received[1]!)).not.toBe(eventOf(endpoint.receiver.received[0]!))
    await hooks.world.sql(
      `UPDATE platform.webhook_deliveries SET locked_until = now() WHERE id = $1 AND locked_until > now() + interval '1 minute'`,
      [row!.id],
    )
    const [once, , again] = await endpoint.receiver.until(3)
    expect(again!.body.equals(once!.body)).toBe(true)
    expect(eventOf(again!)).toBe(eventOf(once!))
    expect([once!, again!].map(({ headers }) => headers['moothall-attempt'])).toEqual(['1', '2'])
    const rows = await hooks.untilDeliveries(endpoint, all('delivered', 2))
    expect(rows[0]).toMatchObject({ attempts: 2 })
    expect(await hooks.attempts(row!)).toMatchObject([{ attempt: 2, status: 'succeeded' }])
    await vi.waitFor(() => expect(endpoint.receiver.received).toHaveLength(3), { timeout: 15_000 })
  } finally {
    await second?.kill()
    await hooks.close()
    await database.drop()
  }
}, 120_000)

it('PLAT-74 on SIGTERM what is being sent is awaited; what does not end is given back at once', async () => {
  const database = await createDatabase()
  const server = await startProcess(database, { MOOTHALL_DRAIN_TIMEOUT: '1s' })
  const hooks = await WebhookWorld.open(server)
  try {
    const spaces = [await hooks.space(), await hooks.space()] as const
    const held = gate()
    const quick = await hooks.endpoint({
      space: spaces[0],
      receiver: hooks.receivers.open(() => held.promise.then(() => ({}))),
    })
    const stuck = await hooks.endpoint({
      space: spaces[1],
      receiver: hooks.receivers.open(() => new Promise(() => {})),
    })
    for (const space of spaces) await hooks.fact(space)
    await Promise.all([quick.receiver.until(1), stuck.receiver.until(1)])
    const stopped = server.stop()
    await vi.waitUntil(async () => (await fetch(`${server.url}/readyz`).catch(() => null))?.status !== 200, {
      timeout: 15_000,
    })
    held.resolve()
    expect(await stopped).toBe(0)
    expect(await hooks.deliveries(quick)).toMatchObject([{ state: 'delivered', attempts: 1, locked_by: null }])
    const [left] = await hooks.deliveries(stuck)
    expect(left).toMatchObject({ state: 'pending', attempts: 1, attempts_before: 1, locked_by: null })
    expect(left!.wait).toBeLessThanOrEqual(0)
    expect(await hooks.attempts(left!)).toMatchObject([{ status: 'failed', error_message: 'cancelled' }])
  } finally {
    await hooks.close()
    await database.drop()
  }
}, 120_000)
