import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { keyIdOf, seal, unseal } from '../../src/lib/envelope.ts'
import { newId } from '../../src/lib/type-id.ts'
import { createKeyring } from '../../src/platform/keyring/keyring.ts'
import { serverEnv } from '../support/app.ts'
import { MAIN, startProcess } from '../support/app-process.ts'
import { moothall } from '../support/command.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let owner: pg.Pool
let env: Record<string, string>

const KEYS = {
  k1: Buffer.alloc(32, 'old'),
  k2: Buffer.alloc(32, 'new'),
}
type KeyId = keyof typeof KEYS
const ring = (...ids: KeyId[]) =>
  createKeyring({ encryptionKeys: ids.map((id) => ({ id, secret: KEYS[id] })), kmsKeyId: '' })
const listed = (...ids: KeyId[]) => ({
  MOOTHALL_ENCRYPTION_KEYS: ids.map((id) => `${id}:${KEYS[id].toString('base64')}`).join(),
})
const COLUMNS = ['secret_envelope', 'previous_secret_envelope'] as const

beforeAll(async () => {
  database = await createDatabase()
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 3 })
  owner.on('error', () => {})
  env = serverEnv(database)
}, 120_000)
afterAll(async () => {
  await owner.end()
  await database.drop()
})

type Sealed = { org_id: string; id: string; kek_id: string } & Record<(typeof COLUMNS)[number], Buffer>
const webhooks = async () => (await owner.query<Sealed>('SELECT * FROM platform.webhooks ORDER BY org_id, id')).rows
const keyIds = async () => (await webhooks()).flatMap((row) => COLUMNS.map((column) => keyIdOf(row[column])))

/** Two orgs with endpoints, whose secrets are sealed under the old key. */
beforeEach(async () => {
  await owner.query('DELETE FROM platform.webhooks')
  for (const org of [newId(), newId()]) {
    await owner.query(`INSERT INTO identity.orgs (id, slug, name, api_version) VALUES ($1, $2, 'Org', '2026-01-01')`, [
      org,
      `o-${org.slice(-12)}`,
    ])
    for (let at = 0; at < 15; at++) await plant(org)
  }
}, 60_000)

async function plant(org: string): Promise<void> {
  const id = newId()
  const envelopes = await Promise.all(
    COLUMNS.map((column) =>
      seal(ring('k1'), Buffer.from(`${column} of ${id}`), {
        orgId: org,
        table: 'platform.webhooks',
        rowId: id,
        column,
      }),
    ),
  )
  await owner.query(
    `INSERT INTO platform.webhooks (org_id, id, url, secret_envelope, previous_secret_envelope, previous_secret_until,
       secret_hint, kek_id, event_types, api_version)
     VALUES ($1, $2, 'https://example.org/', $3, $4, now() + interval '1 day', 'abcd', 'k1', '{*}', '2026-01-01')`,
    [org, id, ...envelopes],
  )
}

async function expectAllOpen(...keys: KeyId[]): Promise<void> {
  for (const row of await webhooks()) {
    for (const column of COLUMNS) {
      const place = { orgId: row.org_id, table: 'platform.webhooks', rowId: row.id, column }
      expect(String(await unseal(ring(...keys), row[column], place))).toBe(`${column} of ${row.id}`)
    }
  }
}
const rewrap = (keys: Record<string, string>) => moothall(['keys', 'rewrap', '--json'], { ...env, ...keys })

describe('keys rewrap', () => {
  it('PLAT-72 seals every registered column of every org anew, and nothing more the second time', async () => {
    const done = await rewrap(listed('k2', 'k1'))
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(done.stdout)).toEqual({ keyId: 'k2', rewrapped: 60, shut: [] })
    expect(new Set(await keyIds())).toEqual(new Set(['k2']))
    expect((await webhooks()).every(({ kek_id }) => kek_id === 'k2')).toBe(true)
    await expectAllOpen('k2')

    expect(JSON.parse((await rewrap(listed('k2', 'k1'))).stdout)).toMatchObject({ rewrapped: 0 })
  })

  it('PLAT-72 goes on where it was killed', async () => {
    const middle = (await webhooks())[17]!
    const holder = await owner.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM platform.webhooks WHERE id = $1 FOR UPDATE', [middle.id])
    const child = spawn(process.execPath, [MAIN, 'keys', 'rewrap'], {
      cwd: tmpdir(),
      env: { PATH: process.env['PATH'], ...env, ...listed('k2', 'k1') },
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    await vi.waitUntil(
      async () =>
        (
          await owner.query(`SELECT FROM pg_stat_activity WHERE application_name = 'moothall keys rewrap' AND wait_event_type = 'Lock'
          AND datname = current_database()`)
        ).rowCount,
      { timeout: 30_000, interval: 20 },
    )
    child.kill('SIGKILL')
    await exited
    await holder.query('ROLLBACK')
    holder.release()
    await vi.waitUntil(
      async () =>
        (
          await owner.query(
            `SELECT FROM pg_stat_activity WHERE application_name = 'moothall keys rewrap' AND datname = current_database()`,
          )
        ).rowCount === 0,
      { timeout: 10_000, interval: 20 },
    )
    expect(new Set(await keyIds())).toEqual(new Set(['k1', 'k2']))
    await expectAllOpen('k2', 'k1')

    expect((await rewrap(listed('k2', 'k1'))).code).toBe(0)
    expect(new Set(await keyIds())).toEqual(new Set(['k2']))
    await expectAllOpen('k2')
  })

  it('PLAT-72 loses no value that somebody changes meanwhile, and works beside another of its kind', async () => {
    const changed = (await webhooks())[20]!
    const place = { orgId: changed.org_id, table: 'platform.webhooks', rowId: changed.id, column: COLUMNS[0] }
    const holder = await owner.connect()
    await holder.query('BEGIN')
    await holder.query('UPDATE platform.webhooks SET secret_envelope = $2 WHERE id = $1', [
      changed.id,
      await seal(ring('k1'), Buffer.from('another secret'), place),
    ])
    const running = [rewrap(listed('k2', 'k1')), rewrap(listed('k2', 'k1'))]
    await vi.waitUntil(
      async () =>
        (
          await owner.query(`SELECT FROM pg_stat_activity WHERE application_name = 'moothall keys rewrap' AND wait_event_type = 'Lock'
          AND datname = current_database()`)
        ).rowCount === 2,
      { timeout: 60_000, interval: 20 },
    )
    await holder.query('COMMIT')
    holder.release()
    const done = await Promise.all(running)
    expect(done.map(({ code }) => code)).toEqual([0, 0])
    expect(done.reduce((sum, { stdout }) => sum + JSON.parse(stdout).rewrapped, 0)).toBe(60)
    expect(new Set(await keyIds())).toEqual(new Set(['k2']))
    const now = (await webhooks()).find(({ id }) => id === changed.id)!
    expect(String(await unseal(ring('k2'), now.secret_envelope, place))).toBe('another secret')
  })

  it('PLAT-72 names what does not open, leaves it and does the rest', async () => {
    const [one, two] = await webhooks()
    await owner.query('UPDATE platform.webhooks SET secret_envelope = $2 WHERE id = $1', [
      one!.id,
      two!.secret_envelope,
    ])
    const done = await rewrap(listed('k2', 'k1'))
    expect(done.code).toBe(1)
    expect(JSON.parse(done.stdout)).toEqual({
      keyId: 'k2',
      rewrapped: 59,
      shut: [
        {
          orgId: one!.org_id,
          table: 'platform.webhooks',
          column: 'secret_envelope',
          rowId: one!.id,
          fault: 'does_not_open',
        },
      ],
    })
    expect((await keyIds()).filter((id) => id === 'k1')).toHaveLength(1)
  })
})

describe('the start', () => {
  it('PLAT-72 refuses without a key that rows still need, of any table, and serves once they need it no longer', async () => {
    const start = (keys: Record<string, string>) => startProcess({ ...env, ...keys })
    await expect(start(listed('k2'))).rejects.toThrow(/"code":1.*still need the key k1/s)

    await rewrap(listed('k2', 'k1'))
    const served = await start(listed('k2'))
    served.signal('SIGKILL')
    await served.exited()

    // An answer under an idempotency key, which only time releases.
    const place = { orgId: newId(), table: 'platform.idempotency_keys', rowId: 'x', column: 'response_envelope' }
    await owner.query(
      `INSERT INTO platform.idempotency_keys (org_id, actor_id, key, fingerprint, state, locked_by, locked_until, status_code,
         response_envelope, response_headers, expires_at)
       VALUES ($1, $1, 'k', sha256(''), 'done', $1, now(), 200, $2, '{}', now() + interval '1 day')`,
      [place.orgId, await seal(ring('k1'), Buffer.from('{}'), place)],
    )
    await expect(start(listed('k2'))).rejects.toThrow(/still need the key k1/)
    await owner.query('DELETE FROM platform.idempotency_keys')
    const again = await start(listed('k2'))
    again.signal('SIGKILL')
    await again.exited()
  })
})
