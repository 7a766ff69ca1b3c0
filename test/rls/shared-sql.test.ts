import pg from 'pg'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IdentityWorld, outcome } from './identity-world.ts'

let world: IdentityWorld

beforeAll(async () => {
  world = await IdentityWorld.open()
  await world.asOwner((query) =>
    query(`CREATE TABLE work.things (org_id uuid, id uuid PRIMARY KEY, keeper uuid, closed_at timestamptz, body text);
      GRANT SELECT, INSERT, UPDATE ON work.things TO moothall_app;
      CREATE TRIGGER keeper BEFORE INSERT OR UPDATE ON work.things
        FOR EACH ROW EXECUTE FUNCTION identity.require_standing('keeper');
      CREATE TRIGGER once BEFORE UPDATE OF closed_at ON work.things
        FOR EACH ROW EXECUTE FUNCTION platform.set_once('closed_at')`),
  )
})

afterAll(() => world?.close())

describe('ids', () => {
  it('are of version 7, in the order they are made, with either generator', async () => {
    for (const generator of ['new_id', 'new_id_from_clock']) {
      const before = Date.now()
      const { rows } = await world.app.query<{ ids: string[] }>(
        `SELECT array_agg(platform.${generator}()::platform.uuid7::text) AS ids FROM generate_series(1, 1000)`,
      )
      const ids = rows[0]!.ids
      const milliseconds = Number.parseInt(ids[0]!.replace('-', '').slice(0, 12), 16)
      expect(new Set(ids).size).toBe(1000)
      expect(ids.map((id) => id.slice(0, 13))).toEqual(ids.map((id) => id.slice(0, 13)).sort())
      expect(Math.abs(milliseconds - before)).toBeLessThan(1000)
    }
  })

  it('of another version or variant are refused', async () => {
    for (const id of ['7f0c1d8e-0a52-4b5e-9a57-3e3bd1f7c2aa', '019480d2-0000-7000-c000-000000000001']) {
      expect(await outcome(world.app.query('SELECT $1::platform.uuid7', [id]))).toBe('23514')
    }
    expect(await outcome(world.app.query('SELECT $1::platform.uuid7', [v7()]))).toBe('done')
  })
})

describe('columns that name a person', () => {
  const put = (org: string, keeper: string | null) =>
    outcome(
      world.as({ org }, (query) =>
        query('INSERT INTO work.things (org_id, id, keeper) VALUES ($1, $2, $3)', [org, v7(), keeper]),
      ),
    )

  it('ID-8 take members and those at home in the org, and nobody else', async () => {
    const [org, other] = [await world.org(), await world.org()]
    expect(await put(org, await world.member(org))).toBe('done')
    expect(await put(org, await world.resident(org, 'agent'))).toBe('done')
    expect(await put(org, null)).toBe('done')
    expect(await put(org, await world.member(other))).toBe('MH009')
    expect(await put(org, await world.resident(other, 'anonymous'))).toBe('MH009')
    expect(await put(org, v7())).toBe('MH009')
  })

  it('ID-8 leave a row editable that names somebody who left, and do not take them anew', async () => {
    const org = await world.org()
    const [keeper, next] = [await world.member(org), await world.member(org)]
    await put(org, keeper)
    await world.as({ org }, (query) =>
      query('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [keeper]),
    )
    const set = (columns: string) =>
      outcome(world.as({ org }, (query) => query(`UPDATE work.things SET ${columns} WHERE org_id = '${org}'`)))

    expect(await set(`body = 'new'`)).toBe('done')
    expect(await set(`body = 'again', keeper = '${keeper}'`)).toBe('done')
    expect(await set(`keeper = '${next}'`)).toBe('done')
    expect(await set(`keeper = '${keeper}'`)).toBe('MH009')
  })
})

describe('columns that are set once', () => {
  it('MH008 keep their first value', async () => {
    const id = v7()
    const set = (value: string) =>
      outcome(world.app.query(`UPDATE work.things SET closed_at = ${value}, body = 'x' WHERE id = '${id}'`))
    await world.app.query('INSERT INTO work.things (id) VALUES ($1)', [id])

    expect(await set(`'2026-01-01'`)).toBe('done')
    expect(await set(`'2026-01-01'`)).toBe('done')
    expect(await set(`'2026-01-02'`)).toBe('MH008')
    expect(await set('NULL')).toBe('MH008')
  })
})

it('updated_at follows each change, and cannot be written', async () => {
  const org = await world.org()
  const read = () =>
    world.as({ org }, (query) => query<{ at: string }>('SELECT updated_at::text AS at FROM identity.orgs'))
  const [before] = (await read()).rows
  await world.as({ org }, (query) => query(`UPDATE identity.orgs SET name = 'New'`))
  expect((await read()).rows[0]!.at > before!.at).toBe(true)
  expect(await outcome(world.as({ org }, (query) => query('UPDATE identity.orgs SET updated_at = now()')))).toBe(
    '42501',
  )
})

describe('PLAT-26 the identity channel', () => {
  let listener: pg.Client
  let heard: Record<string, unknown>[]

  beforeAll(async () => {
    listener = new pg.Client({ connectionString: world.superuserUrl })
    await listener.connect()
    listener.on('notification', ({ payload }) => heard.push(JSON.parse(payload!)))
  })
  afterAll(() => listener?.end())

  /** What is heard of the work, up to a mark that is sent after it. */
  async function hear(work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
    heard = []
    await listener.query('LISTEN moothall_identity')
    await work()
    const mark = v7()
    await world.app.query(`SELECT platform.notify_identity('key', $1, 'changed')`, [mark])
    await expect.poll(() => heard.at(-1)?.id).toBe(mark)
    await listener.query('UNLISTEN moothall_identity')
    return heard.slice(0, -1)
  }

  it('tells of every change of standing, as ids and states', async () => {
    const org = await world.org()
    await world.member(org, 'owner')
    const user = await world.member(org)
    const session = await world.session(org, user)
    const change = (text: string) => () => world.as({ org, user }, (query) => query(text))
    const changes: [string, Record<string, unknown>][] = [
      [
        `UPDATE identity.memberships SET role = 'viewer' WHERE user_id = '${user}'`,
        { t: 'member', id: user, s: 'role' },
      ],
      [`UPDATE identity.memberships SET last_used_at = now()`, {}],
      [`UPDATE identity.sessions SET last_seen_at = now()`, {}],
      [
        `UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user'`,
        { t: 'session', id: session, s: 'revoked' },
      ],
      [
        `UPDATE identity.memberships SET revoked_at = now() WHERE user_id = '${user}'`,
        { t: 'member', id: user, s: 'revoked' },
      ],
      [
        `UPDATE identity.memberships SET revoked_at = NULL WHERE user_id = '${user}'`,
        { t: 'member', id: user, s: 'active' },
      ],
      [`UPDATE identity.orgs SET stopped_at = now()`, { t: 'org', id: org, s: 'stopped' }],
      [`UPDATE identity.orgs SET stopped_at = NULL`, { t: 'org', id: org, s: 'resumed' }],
      [`UPDATE identity.orgs SET status = 'archived', archived_at = now()`, { t: 'org', id: org, s: 'archived' }],
      [`UPDATE identity.orgs SET status = 'active', archived_at = NULL`, { t: 'org', id: org, s: 'active' }],
      [`UPDATE identity.orgs SET name = 'Other'`, {}],
    ]
    for (const [text, expected] of changes) {
      const hint = 't' in expected ? [{ v: 1, org, ...expected }] : []
      expect([text, await hear(change(text))]).toEqual([text, hint])
    }
  })

  it('tells of a person who is disabled or deleted, and of the sign-ins that go with them', async () => {
    const org = await world.org()
    const user = await world.member(org)
    const session = await world.session(org, user)
    const asOwner = (text: string) => () => world.asOwner((query) => query(text, [user]))

    const disabled = await hear(asOwner(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`))
    const deleted = await hear(asOwner('DELETE FROM identity.users WHERE id = $1'))

    expect(disabled).toEqual([{ v: 1, t: 'user', id: user, s: 'suspended' }])
    expect(deleted).toHaveLength(2)
    expect(deleted).toContainEqual({ v: 1, t: 'session', org, id: session, s: 'revoked' })
    expect(deleted).toContainEqual({ v: 1, t: 'member', org, id: user, s: 'revoked' })
  })

  it('is silent about what is rolled back', async () => {
    const org = await world.org()
    const undone = () =>
      outcome(
        world.as({ org }, async (query) => {
          await query('UPDATE identity.orgs SET stopped_at = now()')
          throw new Error('undone')
        }),
      )
    expect(await hear(undone)).toEqual([])
  })
})
