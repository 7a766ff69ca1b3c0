import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IdentityWorld, outcome, type Settings } from './identity-world.ts'

let world: IdentityWorld
let org: string
let agent: string

beforeAll(async () => {
  world = await IdentityWorld.open()
  org = await world.org()
  agent = await agentOf(org)
})
afterAll(() => world?.close())

async function agentOf(orgId: string): Promise<string> {
  const id = await world.resident(orgId, 'agent')
  const name = `a-${randomBytes(6).toString('hex')}`
  await world.as({ org: orgId }, (query) =>
    query('INSERT INTO identity.agents (org_id, id, name) VALUES ($1, $2, $3)', [orgId, id, name]),
  )
  return id
}

type Columns = Record<string, unknown>
/** Inserts a key of the agent, with other columns than a right one's. Gives its id. */
async function key(columns: Columns = {}, settings: Settings = { org }): Promise<string> {
  const row: Columns = {
    org_id: org,
    agent_id: agent,
    name: randomBytes(6).toString('hex'),
    prefix: randomBytes(4).toString('hex'),
    secret_hash: randomBytes(32),
    pepper_id: 1,
    scopes: ['work:read'],
    ...columns,
  }
  const names = Object.keys(row)
  const { rows } = await world.as(settings, (query) =>
    query(
      `INSERT INTO identity.api_keys (id, ${names.join(', ')})
       VALUES (platform.new_id(), ${names.map((_, at) => `$${at + 1}`).join(', ')}) RETURNING id`,
      Object.values(row),
    ),
  )
  return (rows[0] as { id: string }).id
}
/** Resolves when a statement waits for a lock. */
async function waiting(): Promise<void> {
  const text = `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()`
  while ((await world.asOwner((query) => query(text))).rows.length === 0) await delay(20)
}

const change = (id: string, columns: string, settings: Settings = { org }) =>
  outcome(world.as(settings, (query) => query(`UPDATE identity.api_keys SET ${columns} WHERE id = $1`, [id])))

describe('API keys', () => {
  it.each<[string, Columns, string]>([
    ['an agent’s without a scope', { scopes: [] }, '23514'],
    ['an agent’s that administers', { scopes: ['admin'] }, '23514'],
    ['an agent’s with an unknown scope', { scopes: ['work:read', 'work:own'] }, '23514'],
    ['an agent’s with a scope that is null', { scopes: ['work:read', null] }, '23514'],
    ['an admin key with the scopes of an agent', { agent_id: null }, '23514'],
    ['an admin key', { agent_id: null, scopes: ['admin'] }, 'done'],
    ['a hash of other than 32 bytes', { secret_hash: randomBytes(31) }, '23514'],
    ['a prefix of nine characters', { prefix: 'abcdefghi' }, '23514'],
    ['a rotated one without a successor', { rotated_at: new Date(), expires_at: new Date() }, '23514'],
    ['a right one', {}, 'done'],
  ])('ID-50, 52 are as they must be: %s', async (_what, columns, expected) => {
    expect(await outcome(key(columns))).toBe(expected)
  })

  it('ID-8, PLAT-3 are of agents of their own org', async () => {
    const other = await world.org()
    const foreign = await agentOf(other)
    expect(await outcome(key({ agent_id: foreign }))).toBe('MH009')
    expect(await outcome(key({ org_id: other, agent_id: foreign }))).toBe('42501')
    expect(await outcome(key({ agent_id: agent }, {}))).toBe('42501')
  })

  it('ID-52 have one live name an agent, and one an org for admin keys', async () => {
    const name = 'deploy'
    const first = await key({ name })
    expect(await outcome(key({ name }))).toBe('23505')
    expect(await outcome(key({ name, agent_id: await agentOf(org) }))).toBe('done')
    const admin = { name, agent_id: null, scopes: ['admin'] }
    expect(await outcome(key(admin))).toBe('done')
    expect(await outcome(key(admin))).toBe('23505')
    expect(await change(first, 'revoked_at = now()')).toBe('done')
    expect(await outcome(key({ name }))).toBe('done')
  })

  it.each<[string, Columns]>([
    ['an agent', {}],
    ['an org, for administration', { agent_id: null, scopes: ['admin'] }],
  ])(
    'ID-52 are ten at most of %s: who makes the eleventh waits for the tenth, and is refused',
    async (_whose, columns) => {
      const org_id = await world.org()
      const settings = { org: org_id }
      const make = () => key({ org_id, agent_id, ...columns }, settings)
      const agent_id = await agentOf(org_id)
      for (let at = 0; at < 9; at++) await make()
      let eleventh: Promise<string> | undefined
      await world.as(settings, async (query) => {
        await query(
          `INSERT INTO identity.api_keys (id, org_id, agent_id, name, prefix, secret_hash, pepper_id, scopes)
         SELECT platform.new_id(), org_id, agent_id, 'tenth', 'tenth' || $1, $2, 1, scopes
         FROM identity.api_keys WHERE org_id = $3 LIMIT 1`,
          [randomBytes(2).toString('hex').slice(1), randomBytes(32), org_id],
        )
        eleventh = outcome(make())
        await Promise.race([eleventh, waiting()])
      })
      expect(await eleventh).toBe('MH011')
    },
  )

  it('ID-53, 54 end once, earlier than they were to, and never later', async () => {
    const [old, next] = [await key(), await key()]
    const rotate = `rotated_at = now(), replaced_by = '${next}', expires_at = now() + interval '5 minutes'`
    expect(await change(old, rotate)).toBe('done')
    expect(await change(old, `replaced_by = '${old}'`)).toBe('MH008')
    expect(await change(old, 'rotated_at = NULL, replaced_by = NULL')).toBe('MH008')
    expect(await change(old, `expires_at = now() + interval '1 hour'`)).toBe('MH008')
    expect(await change(old, 'expires_at = NULL')).toBe('MH008')
    expect(await change(old, `expires_at = now() + interval '1 minute'`)).toBe('done')
    expect(await change(old, 'revoked_at = now()')).toBe('done')
    expect(await change(old, 'revoked_at = NULL')).toBe('MH008')
  })

  it('ID-53 are replaced by a key of their org that is there', async () => {
    const other = await world.org()
    const foreign = await key({ org_id: other, agent_id: await agentOf(other) }, { org: other })
    const mine = await key()
    const end = `rotated_at = now(), expires_at = now(), replaced_by = '${foreign}'`
    expect(await change(mine, end)).toBe('23503')
  })

  it('ID-50 keep their hash, scopes and name from the app, and are never deleted by it', async () => {
    const id = await key()
    const app = (text: string) => outcome(world.as({ org }, (query) => query(text)))
    expect(await app('SELECT secret_hash FROM identity.api_keys')).toBe('42501')
    expect(await app('SELECT * FROM identity.api_keys')).toBe('42501')
    expect(await app('DELETE FROM identity.api_keys')).toBe('42501')
    for (const columns of [`scopes = '{work:write}'`, `name = 'x'`, `prefix = 'abcdefgh'`, `agent_id = NULL`]) {
      expect(await change(id, columns)).toBe('42501')
    }
  })

  it('PLAT-1 of another org are not there, nor is any for a guest', async () => {
    const id = await key()
    const other = await world.org()
    const count = async (settings: Settings) =>
      (await world.as(settings, (query) => query('SELECT id FROM identity.api_keys WHERE id = $1', [id]))).rows.length
    expect(await count({ org })).toBe(1)
    expect(await count({ org: other })).toBe(0)
    expect(await count({})).toBe(0)
    expect(await count({ org, room: other })).toBe(0)
  })
})
