import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { serverEnv } from '../support/app.ts'
import { type AppProcess, startAppProcess } from '../support/app-process.ts'
import { moothall, type Ran } from '../support/command.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'

// Each command is a process that loads the product anew.
vi.setConfig({ testTimeout: 120_000 })

let app: AppProcess
let world: World
let env: Record<string, string>
beforeAll(async () => {
  app = await startAppProcess()
  world = await createWorld(app)
  env = serverEnv(app.database)
}, 120_000)
afterAll(() => world.close())

const object = ({ stdout }: Ran) => JSON.parse(stdout)
const create = (...args: string[]) => moothall(['key', 'create', '--org', world.org.slug, '--json', ...args], env)
const standing = async (key: string) =>
  (await app.client(key).send('{ viewer { standing } }')).data?.viewer.standing ?? null

it('PLAT-80, ID-52 makes keys of agents and admin keys, and ends them for the running server', async () => {
  const agent = await world.agent({ name: 'builder' })
  const [admin, read, write] = await Promise.all([
    create('--admin', '--name', 'terraform'),
    create('--agent', 'builder', '--name', 'ci'),
    create(
      '--agent',
      'builder',
      '--name',
      'cd',
      '--scopes',
      'rooms:write,rooms:read',
      '--expires',
      '2999-01-01T00:00:00Z',
    ),
  ])
  expect(object(read).apiKey.scopes).toEqual(['gate:read', 'work:read', 'rooms:read'])
  const rows = await world.sql(
    'SELECT name, agent_id, scopes, created_by, created_by_key, expires_at FROM identity.api_keys WHERE id = ANY ($1) ORDER BY name',
    [[admin, read, write].map((ran) => uuidOf(object(ran).apiKey.id))],
  )
  const nobody = { created_by: null, created_by_key: null }
  expect(rows).toEqual([
    {
      name: 'cd',
      agent_id: agent.userId,
      scopes: ['rooms:read', 'rooms:write'],
      expires_at: new Date('2999-01-01T00:00:00Z'),
      ...nobody,
    },
    {
      name: 'ci',
      agent_id: agent.userId,
      scopes: ['gate:read', 'work:read', 'rooms:read'],
      expires_at: null,
      ...nobody,
    },
    { name: 'terraform', agent_id: null, scopes: ['admin'], expires_at: null, ...nobody },
  ])
  expect(await standing(object(admin).apiKey.key)).toBe('ADMIN_KEY')
  expect(await standing(object(write).apiKey.key)).toBe('AGENT')
  const [fact] = await world.sql(`SELECT actor_kind, event_type FROM platform.audit_events WHERE target_id = $1`, [
    uuidOf(object(admin).apiKey.id),
  ])
  expect(fact).toEqual({ actor_kind: 'system', event_type: 'api_key.created' })

  const { key, id } = object(admin).apiKey
  const revoked = await moothall(
    ['key', 'revoke', '--org', world.org.slug, '--prefix', key.slice(8, 16), '--json'],
    env,
  )
  expect(object(revoked)).toEqual({ apiKey: { id, prefix: key.slice(8, 16) } })
  await expect.poll(() => standing(key), { timeout: 1_000 }).toBeNull()
})

it('PLAT-80 refuses what names nothing, and a line that cannot be read', async () => {
  const outcomes = await Promise.all([
    create('--agent', 'nobody', '--name', 'x'),
    moothall(['key', 'create', '--org', 'nowhere', '--admin', '--name', 'x'], env),
    moothall(['key', 'revoke', '--org', world.org.slug, '--prefix', 'AAAAAAAA'], env),
    create('--name', 'x'),
    create('--admin', '--agent', 'builder', '--name', 'x'),
    create('--admin', '--name', 'x', '--scopes', 'rooms:read'),
    create('--agent', 'builder', '--name', 'x', '--scopes', 'admin'),
    create('--admin', '--name', 'x', '--expires', 'tomorrow'),
  ])
  expect(outcomes.map(({ code }) => code)).toEqual([1, 1, 1, 2, 2, 2, 2, 2])
  for (const { stdout } of outcomes) expect(stdout).toBe('')
})

it('ID-56 refuses to start without a pepper that keys still need, and verifies each key with its own', async () => {
  const agent = await world.agent()
  const id = encodeId('ApiKey', agent.keyId)
  const old = env['MOOTHALL_KEY_PEPPERS']!
  const next = `2:${Buffer.alloc(32, 'other').toString('base64')}`
  const refused = await moothall(['start'], { ...env, MOOTHALL_KEY_PEPPERS: next })
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('lacks the pepper 1') })
  expect(refused.stderr).not.toContain(old.slice(2))

  const both = await startAppProcess({ MOOTHALL_KEY_PEPPERS: `${next},${old}` }, app.database)
  try {
    const standingThere = async (key: string) =>
      (await both.client(key).send('{ viewer { standing } }')).data?.viewer.standing ?? null
    expect(await standingThere(agent.key)).toBe('AGENT')
    const { apiKeyRotate } = await both
      .client(world.owner.client.token)
      .run('mutation ($id: ID!) { apiKeyRotate(input: { id: $id }) { ... on ApiKeyRotatePayload { key } } }', { id })
    expect(await standingThere(apiKeyRotate.key)).toBe('AGENT')
    const [row] = await world.sql('SELECT pepper_id FROM identity.api_keys WHERE prefix = $1', [
      apiKeyRotate.key.slice(8, 16),
    ])
    expect(row).toEqual({ pepper_id: 2 })
    expect(await standing(apiKeyRotate.key)).toBeNull() // a server that lacks its pepper cannot know it
  } finally {
    await both.close()
  }

  await world.sql('UPDATE identity.api_keys SET revoked_at = now() WHERE pepper_id = 1 AND revoked_at IS NULL')
  const free = await startAppProcess({ MOOTHALL_KEY_PEPPERS: next }, app.database)
  await free.close()
})
