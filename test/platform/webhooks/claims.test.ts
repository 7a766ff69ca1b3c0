import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/type-id.ts'
import { createDatabase, type TestDatabase } from '../../support/database.ts'

// No server runs here: claims are the test's, each on a connection of its own, as other processes have theirs.
let database: TestDatabase
let owner: pg.Client
let org: string
let workers: pg.Client[]
/** Looks while others claim. */
let watch: pg.Pool

beforeAll(async () => {
  database = await createDatabase()
  owner = await connect(database.ownerUrl)
  watch = new pg.Pool({ connectionString: database.ownerUrl, max: 4 })
  workers = await Promise.all(Array.from({ length: 8 }, () => connect(database.appUrl)))
})
afterAll(async () => {
  await Promise.all([owner, watch, ...workers].map((client) => client?.end()))
  await database?.drop()
})
beforeEach(async () => {
  await owner.query(`UPDATE platform.webhooks SET is_active = false, disabled_reason = 'manual' WHERE is_active`)
  await owner.query('DELETE FROM platform.webhook_deliveries')
  org = newId()
  await owner.query(`INSERT INTO identity.orgs (id, slug, name, api_version) VALUES ($1, $2, 'Org', '2026-01-01')`, [
    org,
    `o-${org.slice(-12)}`,
  ])
})

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client
}

async function endpoint(types = ['*']): Promise<string> {
  const id = newId()
  await owner.query(
    `INSERT INTO platform.webhooks (org_id, id, url, secret_envelope, secret_hint, kek_id, event_types, api_version)
     VALUES ($1, $2, 'https://hooks.example/', '\\x00', 'hint', '1', $3, '2026-01-01')`,
    [org, id, types],
  )
  return id
}

/** Facts of the org, each of which every endpoint is owed. */
async function facts(count: number): Promise<void> {
  await owner.query(
    `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, deliverable)
     SELECT $1, 'activity', 'org.updated', 'system', true FROM generate_series(1, $2)`,
    [org, count],
  )
}

type Claimed = { id: string; webhook_id: string; attempts: number }

async function claim(client: pg.Client, name: string, limit = 100, lease = '2 minutes'): Promise<Claimed[]> {
  const { rows } = await client.query<Claimed>(
    'SELECT id, webhook_id, attempts FROM platform.claim_webhook_deliveries($1, $2, $3)',
    [name, limit, lease],
  )
  return rows
}

async function finish(client: pg.Client, name: string, { id }: Claimed): Promise<number> {
  await client.query('BEGIN')
  await client.query(`SELECT set_config('moothall.org_id', $1, true)`, [org])
  const { rowCount } = await client.query(
    `UPDATE platform.webhook_deliveries SET state = 'delivered', delivered_at = now(), locked_by = NULL, locked_until = NULL
     WHERE id = $1 AND locked_by = $2 AND state = 'pending'`,
    [id, name],
  )
  await client.query('COMMIT')
  return rowCount ?? 0
}

const live = async (webhook: string): Promise<number> =>
  Number(
    (
      await watch.query(
        'SELECT count(*) FROM platform.webhook_deliveries WHERE webhook_id = $1 AND locked_until > now()',
        [webhook],
      )
    ).rows[0].count,
  )

const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  )

describe('PLAT-41 claims', () => {
  it('PLAT-41 gives each delivery to one of 8 workers, and never more than four of an endpoint at a time', async () => {
    const endpoints = [await endpoint(), await endpoint(), await endpoint()]
    await facts(40)
    const taken: string[] = []
    let most = 0
    let done = 0
    await Promise.all(
      workers.map(async (client, at) => {
        const name = `worker-${at}`
        while (done < 120) {
          const claimed = await claim(client, name, 1 + (at % 4) * 3)
          taken.push(...claimed.map(({ id }) => id))
          for (const each of endpoints) most = Math.max(most, await live(each))
          for (const each of claimed) {
            const finished = await finish(client, name, each)
            done += finished
          }
        }
      }),
    )
    expect(taken).toHaveLength(120)
    expect(new Set(taken).size).toBe(120)
    expect(most).toBeLessThanOrEqual(4)
    expect(most).toBeGreaterThan(1)
  })

  it('PLAT-41 stays at four when 8 workers claim at once, whatever each of them sees', async () => {
    for (let round = 0; round < 30; round++) {
      const id = await endpoint()
      await facts(10)
      const claimed = (await Promise.all(workers.map((client, at) => claim(client, `w${at}`, 3)))).flat()
      expect(claimed.filter(({ webhook_id }) => webhook_id === id).length).toBeLessThanOrEqual(4)
      expect(await live(id)).toBeLessThanOrEqual(4)
      await owner.query('DELETE FROM platform.webhooks WHERE id = $1', [id])
    }
  })

  it('PLAT-41 returns a delivery when its lease ends, with one attempt more', async () => {
    await endpoint()
    await facts(1)
    const [one, two] = workers as [pg.Client, pg.Client]
    const [first] = await claim(one, 'one')
    expect(await claim(two, 'two')).toEqual([])
    await owner.query(`UPDATE platform.webhook_deliveries SET locked_until = now() WHERE id = $1`, [first!.id])
    const [second] = await claim(two, 'two')
    expect(second).toEqual({ ...first, attempts: 2 })
    expect(await finish(one, 'one', first!)).toBe(0)
    expect(await finish(two, 'two', second!)).toBe(1)
  })

  it('PLAT-41 no endpoint starves behind one that is owed thousands, and none is read through', async () => {
    const busy = await endpoint()
    await owner.query(
      `WITH events AS (
         INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind)
         SELECT $1, 'activity', 'org.updated', 'system' FROM generate_series(1, 10000) RETURNING org_id, id)
       INSERT INTO platform.webhook_deliveries (org_id, webhook_id, event_id, next_attempt_at)
       SELECT org_id, $2, id, now() - interval '1 hour' FROM events`,
      [org, busy],
    )
    const quiet = await endpoint()
    await facts(1)
    await owner.query('ANALYZE platform.webhook_deliveries')
    const [client] = workers as [pg.Client]
    // One place after the other: who has fewer under way comes first, not who waits longest.
    const one = async () => (await claim(client, 'one', 1)).map(({ webhook_id }) => webhook_id)
    expect([await one(), await one()]).toEqual([[busy], [quiet]])
    const claimed = await claim(client, 'one', 5)
    expect(claimed.map(({ webhook_id }) => webhook_id)).toEqual([busy, busy, busy])
    // With its four under way it stands in nobody's way, also for the one place that is free.
    await facts(1)
    expect((await claim(client, 'one', 1)).map(({ webhook_id }) => webhook_id)).toEqual([quiet])

    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM platform.claim_webhook_deliveries('two', 100, '2 minutes')`,
    )
    const { Plan: plan } = rows[0]!['QUERY PLAN'][0]
    expect(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!).toBeLessThan(300) // the table has more than that
  })

  it('PLAT-43 takes nothing of an endpoint that is off, nor of an org that is being purged', async () => {
    const off = await endpoint()
    const on = await endpoint()
    await facts(1)
    await owner.query(`UPDATE platform.webhooks SET is_active = false, disabled_reason = 'manual' WHERE id = $1`, [off])
    const [client] = workers as [pg.Client]
    const claimed = await claim(client, 'one')
    expect(claimed.map(({ webhook_id }) => webhook_id)).toEqual([on])
    await owner.query('UPDATE platform.webhook_deliveries SET locked_by = NULL, locked_until = NULL')
    await owner.query('ALTER TABLE identity.orgs DISABLE TRIGGER USER')
    await owner.query(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [org])
    expect(await claim(client, 'one')).toHaveLength(1)
    await owner.query('UPDATE platform.webhook_deliveries SET locked_by = NULL, locked_until = NULL')
    await owner.query(`UPDATE identity.orgs SET status = 'purging' WHERE id = $1`, [org])
    await owner.query('ALTER TABLE identity.orgs ENABLE TRIGGER USER')
    expect(await claim(client, 'one')).toEqual([])
  })

  it('PLAT-41 a claim waits for nobody: an endpoint or a delivery that somebody holds is left to them', async () => {
    const [one, other] = [await endpoint(), await endpoint()]
    await facts(2)
    const [client, holder] = await Promise.all([connect(database.appUrl), connect(database.ownerUrl)])
    await client.query(`SET lock_timeout = '1s'`)
    const owed = async (webhook: string) => {
      const text = 'SELECT id FROM platform.webhook_deliveries WHERE webhook_id = $1 ORDER BY id'
      return (await owner.query<{ id: string }>(text, [webhook])).rows.map(({ id }) => id)
    }
    const [[first, second], others] = [await owed(one), await owed(other)]
    await holder.query('BEGIN')
    await holder.query('SELECT FROM platform.webhooks WHERE id = $1 FOR UPDATE', [one])
    expect((await claim(client, 'one')).map(({ id }) => id).toSorted()).toEqual(others)
    await holder.query('ROLLBACK')
    await holder.query('BEGIN')
    await holder.query('SELECT FROM platform.webhook_deliveries WHERE id = $1 FOR UPDATE', [first])
    expect((await claim(client, 'one')).map(({ id }) => id)).toEqual([second])
    await holder.query('ROLLBACK')
    expect((await claim(client, 'one')).map(({ id }) => id)).toEqual([first])
    await Promise.all([client.end(), holder.end()])
  })

  it('PLAT-41 refuses a claim without bounds', async () => {
    const [client] = workers as [pg.Client]
    for (const [limit, lease] of [
      [0, '2 minutes'],
      [101, '2 minutes'],
      [1, '0 seconds'],
      [1, '1 day'],
    ] as const) {
      expect(await codeOf(claim(client, 'one', limit, lease))).toBe('22023')
    }
  })
})

describe('PLAT-38 the outbox', () => {
  it.each([
    [['*'], true],
    [['org.*'], true],
    [['org.updated'], true],
    [['org.created', 'org.updated'], true],
    [['o.*'], false],
    [['or.*'], false],
    [['org.update'], false],
    [['*.updated'], false],
    [['room.*'], false],
  ] as const)('PLAT-35 an endpoint that asks for %j is owed org.updated: %s', async (types, owed) => {
    const id = await endpoint([...types])
    await facts(1)
    const { rowCount } = await owner.query('SELECT FROM platform.webhook_deliveries WHERE webhook_id = $1', [id])
    expect(rowCount).toBe(owed ? 1 : 0)
  })

  it('PLAT-38 an endpoint that is being deleted fails no fact, and is owed nothing of it', async () => {
    const id = await endpoint()
    const [deleting] = await Promise.all([connect(database.ownerUrl)])
    await deleting.query('BEGIN')
    await deleting.query('DELETE FROM platform.webhooks WHERE id = $1', [id])
    const recorded = codeOf(facts(1)) // waits for the deletion
    await deleting.query('COMMIT')
    expect(await recorded).toBe('ok')
    await deleting.end()
    expect((await owner.query('SELECT FROM platform.webhook_deliveries')).rowCount).toBe(0)
  })

  it('PLAT-38, 43 an endpoint is owed nothing from before it was there, or was switched on again', async () => {
    const clock = async () => {
      const { rows } = await owner.query<{ at: string }>('SELECT clock_timestamp()::text AS at')
      return rows[0]!.at
    }
    const owed = async (at: string) => {
      const { rows } = await owner.query<{ id: string }>(
        `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, deliverable, created_at)
         VALUES ($1, 'activity', 'org.updated', 'system', true, $2) RETURNING id`,
        [org, at],
      )
      const { rowCount } = await owner.query('SELECT FROM platform.webhook_deliveries WHERE event_id = $1', [
        rows[0]?.id,
      ])
      return rowCount
    }
    const first = await clock()
    const id = await endpoint()
    const turn = (text: string) => owner.query(`UPDATE platform.webhooks SET ${text} WHERE id = $1`, [id])
    const second = await clock()
    expect([await owed(first), await owed(second)]).toEqual([0, 1])
    await turn(`is_active = false, disabled_reason = 'manual'`)
    expect(await owed(second)).toBe(0)
    await turn('is_active = true, disabled_reason = NULL')
    expect([await owed(second), await owed(await clock())]).toEqual([0, 1])
  })

  it('PLAT-35 a space has one endpoint, whoever writes the row', async () => {
    const space = newId()
    await owner.query(`INSERT INTO rooms.spaces (org_id, id, slug, name) VALUES ($1, $2, 'space', 'Space')`, [
      org,
      space,
    ])
    const insert = () =>
      owner.query(
        `INSERT INTO platform.webhooks (org_id, space_id, url, secret_envelope, secret_hint, kek_id, event_types, api_version)
         VALUES ($1, $2, 'https://hooks.example/', '\\x00', 'hint', '1', '{*}', '2026-01-01')`,
        [org, space],
      )
    expect([await codeOf(insert()), await codeOf(insert())]).toEqual(['ok', '23505'])
  })

  it('PLAT-38 a fact that is taken back is owed to nobody', async () => {
    const id = await endpoint()
    await owner.query('BEGIN')
    await facts(3)
    await owner.query('ROLLBACK')
    expect((await owner.query('SELECT FROM platform.webhook_deliveries WHERE webhook_id = $1', [id])).rowCount).toBe(0)
  })

  it('MH010, MH008 a delivery goes from its end to nowhere but back to the queue, and keeps its body', async () => {
    await endpoint()
    await facts(1)
    const set = (change: string) => codeOf(owner.query(`UPDATE platform.webhook_deliveries SET ${change}`))
    expect(await set(`body = '\\x01'`)).toBe('ok')
    expect(await set(`body = '\\x02'`)).toBe('MH008')
    expect(await set('body = NULL')).toBe('MH008')
    expect(await set(`state = 'delivered'`)).toBe('23514')
    expect(await set(`state = 'delivered', delivered_at = now()`)).toBe('ok')
    expect(await set(`state = 'dead', failed_at = now(), delivered_at = NULL`)).toBe('MH010')
    expect(await set(`locked_by = 'one', locked_until = now()`)).toBe('23514')
    expect(await set(`state = 'pending', delivered_at = NULL`)).toBe('ok')
    expect(await set(`state = 'dead', failed_at = now()`)).toBe('ok')
    expect(await set(`state = 'delivered', delivered_at = now(), failed_at = NULL`)).toBe('MH010')
  })

  it('PLAT-41, 43 the app neither counts attempts nor rewrites them, and cannot owe for another room or time', async () => {
    await endpoint()
    await facts(1)
    const [client] = workers as [pg.Client]
    const tries = [
      'UPDATE platform.webhook_deliveries SET attempts = 0',
      'UPDATE platform.webhook_deliveries SET event_id = platform.new_id()',
      'UPDATE platform.webhook_deliveries SET created_at = now()',
      'DELETE FROM platform.webhook_deliveries',
      'UPDATE platform.webhook_attempts SET error_message = NULL',
      'DELETE FROM platform.webhook_attempts',
      'TRUNCATE platform.webhook_attempts',
      `UPDATE platform.webhooks SET api_version = '2020-01-01'`,
      'UPDATE platform.webhooks SET space_id = NULL',
      'UPDATE platform.webhooks SET active_since = now()',
      'UPDATE platform.webhooks SET created_at = now()',
      'INSERT INTO platform.webhook_deliveries (org_id, webhook_id, event_id, state) SELECT org_id, webhook_id, event_id, state FROM platform.webhook_deliveries',
    ]
    for (const text of tries) expect([text, await codeOf(client.query(text))]).toEqual([text, '42501'])
  })

  it('MH011 an org has 20 endpoints of its own, also when the last two are made at once', async () => {
    for (let at = 0; at < 19; at++) await endpoint()
    const insert = (client: pg.Client) =>
      client.query(
        `INSERT INTO platform.webhooks (org_id, url, secret_envelope, secret_hint, kek_id, event_types, api_version)
         VALUES ($1, 'https://hooks.example/', '\\x00', 'hint', '1', '{*}', '2026-01-01')`,
        [org],
      )
    const others = await Promise.all([connect(database.ownerUrl), connect(database.ownerUrl)])
    const codes = await Promise.all(others.map((client) => codeOf(insert(client))))
    await Promise.all(others.map((client) => client.end()))
    expect(codes.toSorted()).toEqual(['MH011', 'ok'])
  })
})

describe('PLAT-46 retention', () => {
  it('PLAT-46 removes what ended long ago with its attempts, and nothing that is owed', async () => {
    await endpoint()
    await facts(4)
    const { rows } = await owner.query<{ id: string }>('SELECT id FROM platform.webhook_deliveries ORDER BY id')
    const [delivered, dead, recent, pending] = rows.map(({ id }) => id)
    await owner.query(
      `INSERT INTO platform.webhook_attempts (org_id, delivery_id, attempt, status, started_at, duration_ms, worker)
       SELECT org_id, id, 1, 'failed', now(), 1, 'one' FROM platform.webhook_deliveries`,
    )
    const end = (id: string, change: string) =>
      owner.query(`UPDATE platform.webhook_deliveries SET ${change} WHERE id = $1`, [id])
    await end(delivered!, `state = 'delivered', delivered_at = now() - interval '31 days'`)
    await end(dead!, `state = 'dead', failed_at = now() - interval '31 days'`)
    await end(recent!, `state = 'delivered', delivered_at = now() - interval '29 days'`)
    await end(pending!, `created_at = now() - interval '90 days'`)
    const [client] = workers as [pg.Client]
    const prune = async (limit: number) =>
      (await client.query('SELECT platform.maint_prune_webhook_deliveries($1) AS gone', [limit])).rows[0].gone
    expect([await prune(1), await prune(10), await prune(10)]).toEqual([1, 1, 0])
    const left = await owner.query<{ id: string }>('SELECT id FROM platform.webhook_deliveries ORDER BY id')
    expect(left.rows.map(({ id }) => id).toSorted()).toEqual([recent, pending].toSorted())
    expect((await owner.query('SELECT FROM platform.webhook_attempts')).rowCount).toBe(2)
  })
})
