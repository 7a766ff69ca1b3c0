import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Manifest } from '../../src/cli/export-files.ts'
import { type App, serverEnv, startApp } from '../support/app.ts'
import { moothall } from '../support/command.ts'
import { createWorld, type World } from '../support/world.ts'

// Each command is a process that loads the product anew.
vi.setConfig({ testTimeout: 120_000 })

let app: App
let world: World
let other: World
let env: Record<string, string>
beforeAll(async () => {
  app = await startApp()
  world = await createWorld(app)
  other = await createWorld(app)
  env = serverEnv(app.database)
})
afterAll(() => app.close())

let out: string
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), 'moothall-export-'))
})
afterEach(() => rm(out, { recursive: true }))

const manifestIn = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
const linesOf = async (name: string) =>
  (await readFile(join(out, name), 'utf8'))
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

describe('export org', () => {
  it('PLAT-81 writes the rows of one org, counted and hashed, parents first, and records that it did', async () => {
    const { room, voters } = await world.pokerRoom({ voters: 2 })
    await voters[0]!.vote(room, '5')
    const foreign = await other.pokerRoom({ voters: 1 })

    expect(await moothall(['export', 'org', '--org', world.org.slug, '--out', out], env)).toMatchObject({ code: 0 })

    const manifest = await manifestIn(out)
    expect(manifest.org).toEqual({ id: world.org.id, slug: world.org.slug })
    for (const { name, rows, sha256 } of manifest.files) {
      const bytes = await readFile(join(out, name))
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
      expect(bytes.toString().split('\n').length - 1).toBe(rows)
      expect(bytes.includes(other.org.id) || bytes.includes(foreign.room.uuid)).toBe(false)
    }
    expect(await linesOf('rooms.votes.ndjson')).toMatchObject([{ user_id: voters[0]!.userId, card: '5' }])
    const order = manifest.files.map(({ name }) => name)
    expect(order.indexOf('identity.orgs.ndjson')).toBeLessThan(order.indexOf('identity.memberships.ndjson'))
    expect(order.indexOf('rooms.spaces.ndjson')).toBeLessThan(order.indexOf('rooms.rooms.ndjson'))
    expect(
      await world.sql(
        `SELECT actor_kind, durable, payload FROM platform.audit_events
        WHERE org_id = $1 AND event_type = 'org.exported'`,
        [world.org.id],
      ),
    ).toEqual([{ actor_kind: 'system', durable: true, payload: { what: 'org' } }])
  })

  it('PLAT-81 leaves out every hash, envelope, token and personal row', async () => {
    await world.pokerRoom({ voters: 1 })
    await moothall(['export', 'org', '--org', world.org.slug, '--out', out], env)

    const names = (await manifestIn(out)).files.map(({ name }) => name)
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/sessions|tokens|handoffs|idempotency/)]))
    // Whatever its people alone may read is theirs alone (policies called `personal`).
    const personal = await world.sql<{ name: string }>(
      `SELECT DISTINCT schemaname || '.' || tablename || '.ndjson' AS name FROM pg_policies WHERE policyname = 'personal'`,
    )
    expect(personal.length).toBeGreaterThan(3)
    expect(names.filter((name) => personal.some((each) => each.name === name))).toEqual([])
    for (const name of names) {
      const [row] = await linesOf(name)
      expect(Object.keys(row ?? {}).filter((column) => /hash|envelope|secret$/.test(column))).toEqual([])
    }
    expect((await linesOf('identity.users.ndjson')).length).toBeGreaterThan(0)
  })

  it('PLAT-81 refuses an unknown org and a folder with files in it, and writes nothing', async () => {
    await moothall(['export', 'audit', '--org', world.org.slug, '--out', out], env)
    const before = await readFile(join(out, 'manifest.json'), 'utf8')
    const [unknown, full] = [
      await moothall(['export', 'org', '--org', 'nobody-here', '--out', join(out, 'new')], env),
      await moothall(['export', 'org', '--org', world.org.slug, '--out', out], env),
    ]

    expect(unknown).toMatchObject({ code: 1, stderr: 'There is no such org.\n' })
    expect(full).toMatchObject({ code: 1, stderr: 'The folder of --out is not empty.\n' })
    expect(await readFile(join(out, 'manifest.json'), 'utf8')).toBe(before)
  })
})

describe('export audit', () => {
  it('PLAT-81 writes the log of facts alone', async () => {
    await world.pokerRoom({ voters: 1 })
    await moothall(['export', 'audit', '--org', world.org.slug, '--out', out], env)

    const { files } = await manifestIn(out)
    const [{ count }] = (await world.sql('SELECT count(*)::int AS count FROM platform.audit_events WHERE org_id = $1', [
      world.org.id,
    ])) as [{ count: number }]
    // The export's own event came after its snapshot.
    expect(files).toMatchObject([{ name: 'platform.audit_events.ndjson', rows: count - 1 }])
  })

  it('PLAT-81 finds a purged org by the slug it had', async () => {
    const purged = await createWorld(app)
    await purged.sql(
      `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, org_slug, durable)
       VALUES ($1, 'audit_only', 'org.purged', 'system', $2, true)`,
      [purged.org.id, purged.org.slug],
    )
    await purged.sql('ALTER TABLE identity.orgs DISABLE TRIGGER USER')
    await purged.sql(
      `UPDATE identity.orgs SET status = 'purged', archived_at = now(), purged_at = now(), name = '', slug = 'purged-' || id
       WHERE id = $1`,
      [purged.org.id],
    )
    await purged.sql('ALTER TABLE identity.orgs ENABLE TRIGGER USER')

    const ran = await moothall(['export', 'audit', '--org', purged.org.slug, '--out', out, '--json'], env)
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(await linesOf('platform.audit_events.ndjson')).toMatchObject([{ event_type: 'org.purged' }])
  })
})
