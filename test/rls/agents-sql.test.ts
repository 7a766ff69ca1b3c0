import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IdentityWorld, outcome, type Settings } from './identity-world.ts'

let world: IdentityWorld
beforeAll(async () => {
  world = await IdentityWorld.open()
})
afterAll(() => world?.close())

const run = (settings: Settings, text: string, values: unknown[] = []) =>
  outcome(world.as(settings, (query) => query(text, values)))
const newName = () => `a${randomBytes(8).toString('hex')}`

/** Makes the row of an agent for a user that is there. */
const put = (org: string, id: string, columns: Record<string, unknown> = {}) => {
  const row = { org_id: org, id, name: newName(), ...columns }
  const places = Object.keys(row).map((_, at) => `$${at + 1}`)
  return run(
    { org },
    `INSERT INTO identity.agents (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')})`,
    Object.values(row),
  )
}
async function agent(org: string, columns: Record<string, unknown> = {}): Promise<string> {
  const id = await world.resident(org, 'agent')
  expect(await put(org, id, columns)).toBe('done')
  return id
}
const set = (org: string, id: string, set: string, values: unknown[] = []) =>
  run({ org }, `UPDATE identity.agents SET ${set} WHERE id = $1`, [id, ...values])

describe('an agent', () => {
  it('ID-42 is an agent’s account at home in the org, and nobody else’s', async () => {
    const [org, other] = [await world.org(), await world.org()]
    expect(await put(org, await world.resident(org, 'agent'))).toBe('done')
    expect(await put(org, await world.resident(org, 'anonymous'))).toBe('MH009')
    expect(await put(org, await world.member(org))).toBe('MH009')
    expect(await put(org, await world.resident(other, 'agent'))).toBe('MH009')
    expect(await put(org, v7())).toBe('MH009')
  })

  it('ID-42 keeps its name and kind, and is never deleted', async () => {
    const org = await world.org()
    const id = await agent(org)
    expect(await set(org, id, `name = 'other'`)).toBe('42501')
    expect(await set(org, id, `kind = 'system'`)).toBe('42501')
    expect(await run({ org }, 'DELETE FROM identity.agents WHERE id = $1', [id])).toBe('42501')
  })

  it.each(['a', 'A1', '1a', '-a', 'a_b', 'a.b', `a${'b'.repeat(32)}`, 'é1'])('ID-42 is not called %s', async (name) => {
    const org = await world.org()
    expect(await put(org, await world.resident(org, 'agent'), { name })).toBe('23514')
  })

  it.each(['org', 'system', 'admin', 'moothall', 'all', 'me', 'plugin-x'])(
    'ID-42 is not called %s, which is reserved',
    async (name) => {
      const org = await world.org()
      expect(await put(org, await world.resident(org, 'agent'), { name })).toBe('MH060')
    },
  )

  it('ID-42 is one of 500 at most: of ten at 499 one is made', async () => {
    const org = await world.org()
    await world.asOwner((query) =>
      query(
        `WITH made AS (
           INSERT INTO identity.users (type, account, home_org_id, display_name, status)
           SELECT 'agent', 'agent', $1, 'Agent', 'active' FROM generate_series(1, 499) RETURNING id)
         SELECT count(*) FROM made`,
        [org],
      ),
    )
    await world.asOwner((query) =>
      query(
        `INSERT INTO identity.agents (org_id, id, name)
         SELECT $1, id, 'n' || row_number() OVER () FROM identity.users WHERE home_org_id = $1`,
        [org],
      ),
    )
    const ids = await Promise.all(Array.from({ length: 10 }, () => world.resident(org, 'agent')))
    const outcomes = await Promise.all(ids.map((id) => put(org, id)))
    expect(outcomes.toSorted()).toEqual([...Array(9).fill('MH011'), 'done'])
    expect(await put(org, await world.resident(org, 'agent'), { name: 'console', kind: 'system' })).toBe('done')
  })

  it('ID-43 changes its status along the edges there are', async () => {
    const org = await world.org()
    const id = await agent(org)
    const become = (status: string) => set(org, id, `status = $2, status_changed_at = now()`, [status])
    expect(await set(org, id, `status = 'stopped'`)).toBe('23514')
    for (const [status, expected] of [
      ['suspended', 'done'],
      ['active', 'done'],
      ['suspended', 'done'],
      ['stopped', 'done'],
      ['suspended', 'MH010'],
      ['active', 'done'],
      ['stopped', 'done'],
    ] as const) {
      expect(await become(status)).toBe(expected)
    }
    const born = await world.resident(org, 'agent')
    expect(await put(org, born, { status: 'stopped', status_changed_at: 'now()' })).toBe('MH010')
  })

  it('ID-43 of the system is one an org, called console, never stopped and never given keys', async () => {
    const org = await world.org()
    const id = await agent(org, { name: 'console', kind: 'system' })
    const second = await world.resident(org, 'agent')
    expect(await put(org, second, { name: 'console', kind: 'system' })).toBe('MH060')
    expect(await put(org, second, { kind: 'system' })).toBe('23514')
    expect(await put(org, second, { name: 'console' })).toBe('MH060')
    expect(await set(org, id, `status = 'stopped', status_changed_at = now()`)).toBe('23514')
    const key = [{ kid: 'a'.repeat(32), public_key: `ed25519:${'A'.repeat(43)}`, created_at: '', created_by: '' }]
    expect(await set(org, id, 'intent_keys = $2::jsonb', [JSON.stringify(key)])).toBe('23514')
  })
})

describe('the namespace of handles', () => {
  it('ID-40 is one for usernames and agents: of a member and an agent of one name at once one is made, 50 times', async () => {
    const org = await world.org()
    for (let round = 0; round < 50; round++) {
      const name = newName()
      const [person, id] = [await world.member(await world.org()), await world.resident(org, 'agent')]
      const outcomes = await Promise.all([
        outcome(world.as({ org, user: person }, (query) => world.join(query, org, person, 'member', name))),
        put(org, id, { name }),
      ])
      expect(outcomes.toSorted()).toEqual(['MH060', 'done'])
    }
  })

  it('ID-40 holds against a new username too, for stopped agents and revoked members as for others', async () => {
    const org = await world.org()
    const [taken, name] = [newName(), newName()]
    const id = await agent(org, { name: taken })
    await set(org, id, `status = 'stopped', status_changed_at = now()`)
    const user = await world.member(org)
    const rename = (to: string) =>
      run({ org }, `UPDATE identity.memberships SET username = $1 WHERE user_id = $2`, [to, user])
    expect(await rename(taken)).toBe('MH060')
    expect(await rename(name)).toBe('done')
    await run({ org }, 'UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [user])
    expect(await put(org, await world.resident(org, 'agent'), { name })).toBe('MH060')
    const elsewhere = await world.org()
    expect(await put(elsewhere, await world.resident(elsewhere, 'agent'), { name })).toBe('done')
  })
})

describe('what an agent’s columns hold', () => {
  const key = { kid: 'a'.repeat(32), public_key: `ed25519:${'A'.repeat(43)}`, created_at: 'then', created_by: 'me' }
  const second = { ...key, kid: 'b'.repeat(32) }
  const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, 'x']))

  it.each([
    ['intent_keys', [], 'done'],
    ['intent_keys', [key], 'done'],
    ['intent_keys', [key, second], 'done'],
    ['intent_keys', [key, second, { ...key, kid: 'c'.repeat(32) }], '23514'],
    ['intent_keys', [key, key], '23514'],
    ['intent_keys', {}, '23514'],
    ['intent_keys', null, '23514'],
    ['intent_keys', ['x'], '23514'],
    ['intent_keys', [{ ...key, more: 1 }], '23514'],
    ['intent_keys', [{ ...key, created_by: 5 }], '23514'],
    ['intent_keys', [{ ...key, created_by: null }], '23514'],
    ['intent_keys', [{ kid: key.kid, public_key: key.public_key, created_at: '' }], '23514'],
    ['intent_keys', [{ ...key, kid: 'A'.repeat(32) }], '23514'],
    ['intent_keys', [{ ...key, kid: 'a'.repeat(31) }], '23514'],
    ['intent_keys', [{ ...key, public_key: `ed25519:${'A'.repeat(42)}` }], '23514'],
    ['intent_keys', [{ ...key, public_key: `ed25519:${'A'.repeat(42)}=` }], '23514'],
    ['intent_keys', [{ ...key, public_key: `ed25519:${'A'.repeat(43)}\n` }], '23514'],
    ['labels', pairs(32), 'done'],
    ['labels', pairs(33), '23514'],
    ['labels', { team: 5 }, '23514'],
    ['labels', { team: null }, '23514'],
    ['labels', { '': 'x' }, '23514'],
    ['labels', { team: 'x'.repeat(257) }, '23514'],
    ['labels', [], '23514'],
    ['budgets', [], 'done'],
    ['budgets', {}, '23514'],
    ['budgets', ['x'.repeat(16_384)], '23514'],
  ] as const)('ID-48, 69 %s %j: %s', async (column, value, expected) => {
    const org = await world.org()
    const id = await agent(org)
    expect(await set(org, id, `${column} = $2::jsonb`, [JSON.stringify(value)])).toBe(expected)
  })

  it.each([0, 100_001])('ID-47 no rate limit of %i', async (limit) => {
    const org = await world.org()
    expect(await set(org, await agent(org), 'rate_limit_per_minute = $2', [limit])).toBe('23514')
  })
})

it('PLAT-3, ID-45 lists a project for agents of the org alone, and for a guest nothing is there', async () => {
  const [org, other] = [await world.org(), await world.org()]
  const [own, theirs] = [await agent(org), await agent(other)]
  const list = (id: string) =>
    run({ org }, 'INSERT INTO identity.agent_projects (org_id, agent_id, project_id) VALUES ($1, $2, $3)', [
      org,
      id,
      v7(),
    ])
  expect(await list(own)).toBe('done')
  expect(await list(theirs)).toBe('23503')
  for (const table of ['agents', 'agent_projects']) {
    const count = async (settings: Settings) =>
      (await world.as(settings, (query) => query(`SELECT 1 FROM identity.${table}`))).rowCount
    expect(await count({ org })).toBe(1)
    expect(await count({ org, room: v7() })).toBe(0)
  }
})

it('PLAT-26, ID-3, 69 tells every process what becomes of an agent', async () => {
  const listener = new pg.Client({ connectionString: world.superuserUrl })
  await listener.connect()
  try {
    const org = await world.org()
    const id = await agent(org)
    const heard: Record<string, unknown>[] = []
    listener.on('notification', ({ payload }) => {
      const message = JSON.parse(payload!)
      expect(payload!.length).toBeLessThanOrEqual(200)
      if (message.id === id) heard.push(message)
    })
    await listener.query('LISTEN moothall_identity')
    const project = v7()
    const changes: [string, string][] = [
      [`UPDATE identity.agents SET status = 'suspended', status_changed_at = now()`, 'suspended'],
      [`UPDATE identity.agents SET status = 'active'`, 'resumed'],
      [`UPDATE identity.agents SET status = 'stopped'`, 'stopped'],
      [`UPDATE identity.agents SET mode = 'write'`, 'changed'],
      [`UPDATE identity.agents SET project_scope = 'all'`, 'changed'],
      [`UPDATE identity.agents SET rate_limit_per_minute = 5`, 'changed'],
      [`UPDATE identity.agents SET intent_mode = 'required'`, 'changed'],
      [
        `INSERT INTO identity.agent_projects (org_id, agent_id, project_id) VALUES ('${org}', '${id}', '${project}')`,
        'changed',
      ],
      [`DELETE FROM identity.agent_projects`, 'changed'],
    ]
    for (const [at, [text, state]] of changes.entries()) {
      await world.as({ org }, (query) => query(text))
      await expect.poll(() => heard.length).toBe(at + 1)
      expect(heard[at]).toEqual({ v: 1, t: 'agent', org, id, s: state })
    }
  } finally {
    await listener.end()
  }
})

it('ID-49 a nonce is 16 to 64 characters of base64url and is neither changed nor taken back', async () => {
  const org = await world.org()
  const id = await agent(org)
  const spend = (nonce: string) =>
    run(
      { org },
      `INSERT INTO identity.intent_nonces (org_id, agent_id, nonce, intent_hash, expires_at) VALUES ($1, $2, $3, $4, now())`,
      [org, id, nonce, randomBytes(32)],
    )
  expect(await spend('x'.repeat(16))).toBe('done')
  expect(await spend('x'.repeat(16))).toBe('23505')
  for (const nonce of ['x'.repeat(15), 'x'.repeat(65), `${'x'.repeat(20)}=`, `${'x'.repeat(20)}%`]) {
    expect(await spend(nonce)).toBe('23514')
  }
  expect(await run({ org }, 'DELETE FROM identity.intent_nonces')).toBe('42501')
  expect(await run({ org }, `UPDATE identity.intent_nonces SET expires_at = now()`)).toBe('42501')
})
