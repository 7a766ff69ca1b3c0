import { createHmac, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Actor, Asker } from '../support/actor.ts'
import { PEPPER } from '../support/api-key.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const fresh = () => `k-${randomBytes(4).toString('hex')}`
const agentId = ({ userId }: Actor) => encodeId('Agent', userId)
const KEY = 'key apiKey { id prefix live expiresAt rotatedAt revokedAt scopes }'
const SCOPES = ['WORK_READ']

const create = (by: Asker, of: Actor, more: object = {}) =>
  by.mutate('apiKeyCreate', { agentId: agentId(of), name: fresh(), scopes: SCOPES, ...more }, KEY)
const rotate = (by: Asker, id: string, graceMinutes?: number) =>
  by.mutate(
    'apiKeyRotate',
    { id, ...(graceMinutes !== undefined && { graceMinutes }) },
    `${KEY} previous { id expiresAt }`,
  )
const revoke = (by: Asker, id: string) => by.mutate('apiKeyRevoke', { id }, 'apiKey { id revokedAt }')
const holds = async (key: string) =>
  (await world.app.client(key).send('{ viewer { standing } }')).data?.viewer.standing !== undefined
const row = async (id: string) => (await world.sql('SELECT * FROM identity.api_keys WHERE id = $1', [uuidOf(id)]))[0]!

describe('making keys', () => {
  it('ID-50 shows a key once and keeps its prefix and the HMAC of its secret under the pepper', async () => {
    const agent = await world.agent()
    const { key, apiKey } = await create(world.owner, agent)
    const [, prefix, secret] = /^mh_live_([A-Za-z0-9]{8})([A-Za-z0-9_-]{43})$/.exec(key)!
    expect(apiKey).toMatchObject({ prefix, live: true, scopes: ['WORK_READ'] })
    expect(Buffer.from(secret!, 'base64url')).toHaveLength(32)
    expect(await row(apiKey.id)).toMatchObject({
      prefix,
      pepper_id: 1,
      mode: 'live',
      secret_hash: createHmac('sha256', PEPPER).update(secret!).digest(),
      created_by: world.owner.userId,
    })
    expect(await holds(key)).toBe(true)
    const test = await create(world.owner, agent, { mode: 'TEST' })
    expect(test.key).toMatch(/^mh_test_/)
  })

  it.each([
    ['an agent', (agent: Actor) => ({ agentId: agentId(agent), scopes: SCOPES })],
    ['the org', () => ({ admin: true })],
  ])('ID-52 makes one of 20 at once where %s has nine live keys', async (_what, whose) => {
    const own = await createWorld(world.app)
    const agent = await own.agent()
    const input = whose(agent)
    const made = 'agentId' in input ? 8 : 9 // the agent has one already
    for (let at = 0; at < made; at++) await own.owner.mutate('apiKeyCreate', { ...input, name: fresh() })
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => own.owner.mutate('apiKeyCreate', { ...input, name: fresh() }, 'key')),
    )
    expect(outcomes.filter(({ key }) => key)).toHaveLength(1)
    expect(outcomes.filter(({ code }) => code === 'LIMIT_REACHED')).toHaveLength(19)
  })

  it('ID-52 counts live keys in the database too, whoever writes them', async () => {
    const agent = await world.agent()
    for (let at = 0; at < 8; at++) await world.key({ agentId: agent.userId })
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => world.key({ agentId: agent.userId })))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results) if (result.status === 'rejected') expect(result.reason.code).toBe('MH011')
  })

  it('ID-52 has one live key of a name: of two at once one, again after it was revoked', async () => {
    const agent = await world.agent()
    const [first, second] = await Promise.all([
      create(world.owner, agent, { name: 'ci' }),
      create(world.owner, agent, { name: 'ci' }),
    ])
    expect([first, second].map(({ code }) => code ?? 'ok').toSorted()).toEqual(['CONFLICT', 'ok'])
    const { apiKey } = first.apiKey ? first : second

    expect(await create(world.owner, agent, { name: 'ci' })).toMatchObject({ code: 'CONFLICT' })
    expect(await create(world.owner, await world.agent(), { name: 'ci' })).toMatchObject({ apiKey: { live: true } })
    const rotated = await rotate(world.owner, apiKey.id, 10)
    expect(rotated.apiKey).toMatchObject({ live: true })
    expect(await create(world.owner, agent, { name: 'ci' })).toMatchObject({ code: 'CONFLICT' })
    await revoke(world.owner, rotated.apiKey.id)
    expect(await create(world.owner, agent, { name: 'ci' })).toMatchObject({ apiKey: { live: true } })
  })

  it('ID-52 refuses what cannot be: both or none of agent and admin, no scope, ADMIN for an agent, an end in the past', async () => {
    const id = agentId(await world.agent())
    const asked = (input: object) => world.owner.mutate('apiKeyCreate', { name: fresh(), ...input })
    for (const input of [
      {},
      { agentId: id, admin: true, scopes: SCOPES },
      { agentId: id },
      { agentId: id, scopes: [] },
      { agentId: id, scopes: ['ADMIN'] },
      { admin: true, scopes: SCOPES },
      { agentId: id, scopes: SCOPES, expiresAt: '2020-01-01T00:00:00Z' },
    ]) {
      expect(await asked(input)).toMatchObject({ code: 'INVALID_INPUT' })
    }
  })

  it('ID-8, 43 makes none of an agent of another org, nor of the system’s own', async () => {
    const other = await createWorld(world.app)
    const foreign = await other.agent()
    const before = await world.sql('SELECT id FROM identity.api_keys')
    expect(await create(world.owner, foreign)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'agentId'] })
    const held = encodeId('ApiKey', foreign.keyId)
    expect(await rotate(world.owner, held)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'id'] })
    expect(await revoke(world.owner, held)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'id'] })
    expect((await world.owner.run('query ($id: ID!) { node(id: $id) { id } }', { id: held })).node).toBeNull()

    const systemId = await other.user('agent', world.org.id)
    await world.sql(`INSERT INTO identity.agents (org_id, id, name, kind) VALUES ($1, $2, 'console', 'system')`, [
      world.org.id,
      systemId,
    ])
    const system = { userId: systemId } as Actor
    expect(await create(world.owner, system)).toMatchObject({ code: 'FORBIDDEN' })
    await expect(world.key({ agentId: systemId })).rejects.toMatchObject({ code: 'MH009' })
    expect(await world.sql('SELECT id FROM identity.api_keys')).toHaveLength(before.length)
  })
})

describe('rotating', () => {
  it('ID-53 without grace ends the old key at once', async () => {
    const agent = await world.agent()
    const id = encodeId('ApiKey', agent.keyId)
    expect(await holds(agent.key)).toBe(true)
    const { key, apiKey, previous } = await rotate(world.owner, id)
    expect(await holds(agent.key)).toBe(false)
    expect(await holds(key)).toBe(true)
    expect(previous).toMatchObject({ id })
    const [old, next] = [await row(id), await row(apiKey.id)]
    expect(next).toMatchObject({
      name: old['name'],
      scopes: old['scopes'],
      agent_id: old['agent_id'],
      expires_at: null,
    })
    expect(old).toMatchObject({ replaced_by: uuidOf(apiKey.id), rotated_at: expect.any(Date) })
  })

  it('ID-53 with grace lets the old key go on to the second', async () => {
    const agent = await world.agent()
    await rotate(world.owner, encodeId('ApiKey', agent.keyId), 5)
    const { left } = (
      await world.sql<{ left: number }>(
        'SELECT extract(epoch FROM expires_at - rotated_at)::float8 AS left FROM identity.api_keys WHERE id = $1',
        [agent.keyId],
      )
    )[0]!
    expect(Math.abs(left - 300)).toBeLessThan(1)
    // Its end is moved, not the clock: what is left of the grace is what the server sees.
    const leave = (seconds: number) =>
      world.sql(
        `UPDATE identity.api_keys SET expires_at = clock_timestamp() + $2 * interval '1 second' WHERE id = $1`,
        [agent.keyId, seconds],
      )
    await leave(60)
    expect(await holds(agent.key)).toBe(true)
    await leave(0)
    await expect.poll(() => holds(agent.key)).toBe(false)
  })

  it('ID-53 never prolongs a key that would have ended sooner', async () => {
    const agent = await world.agent()
    const soon = new Date(Date.now() + 60_000).toISOString()
    const { apiKey } = await create(world.owner, agent, { expiresAt: soon })
    const { previous } = await rotate(world.owner, apiKey.id, 1_440)
    expect(Date.parse(previous.expiresAt)).toBe(Date.parse(soon))
  })

  it('ID-53 lets one of two at once win, and rotates nothing that has ended', async () => {
    const agent = await world.agent()
    const id = encodeId('ApiKey', agent.keyId)
    const both = await Promise.all([rotate(world.owner, id, 5), rotate(world.owner, id, 5)])
    expect(both.map(({ code }) => code ?? 'ok').toSorted()).toEqual(['CONFLICT', 'ok'])
    expect(await rotate(world.owner, id)).toMatchObject({ code: 'CONFLICT' })
    const revoked = await create(world.owner, agent)
    await revoke(world.owner, revoked.apiKey.id)
    expect(await rotate(world.owner, revoked.apiKey.id)).toMatchObject({ code: 'CONFLICT' })
  })

  it('ID-53 works at ten live keys: what is rotated counts no more', async () => {
    const agent = await world.agent()
    for (let at = 0; at < 9; at++) await world.key({ agentId: agent.userId })
    expect(await create(world.owner, agent)).toMatchObject({ code: 'LIMIT_REACHED' })
    expect(await rotate(world.owner, encodeId('ApiKey', agent.keyId), 60)).toMatchObject({ apiKey: { live: true } })
  })
})

describe('revoking', () => {
  it('ID-54 ends a key at once, also in its grace, and again does nothing', async () => {
    const agent = await world.agent()
    const id = encodeId('ApiKey', agent.keyId)
    await rotate(world.owner, id, 60)
    expect(await holds(agent.key)).toBe(true)
    const first = await revoke(world.owner, id)
    expect(await holds(agent.key)).toBe(false)
    const facts = () =>
      world.sql(`SELECT payload FROM platform.audit_events WHERE target_id = $1 AND event_type = 'api_key.revoked'`, [
        agent.keyId,
      ])
    expect(await facts()).toEqual([{ payload: { prefix: agent.prefix } }])
    expect(await revoke(world.owner, id)).toEqual(first)
    expect(await facts()).toHaveLength(1)
  })

  it('ID-54 turns no key live again, whoever writes the row', async () => {
    const agent = await world.agent()
    await revoke(world.owner, encodeId('ApiKey', agent.keyId))
    const set = (what: string) =>
      world.sql(`UPDATE identity.api_keys SET ${what} WHERE id = $1`, [agent.keyId]).then(
        () => 'done',
        ({ code }) => code,
      )
    expect(await set('revoked_at = NULL, revoked_by = NULL')).toBe('MH008')
    expect(await set(`revoked_at = now() + interval '1 hour'`)).toBe('MH008')
    const { keyId } = await world.key({ agentId: agent.userId })
    const of = (what: string) =>
      world.sql(`UPDATE identity.api_keys SET ${what} WHERE id = $1`, [keyId]).then(
        () => 'done',
        ({ code }) => code,
      )
    expect(await of(`expires_at = now() + interval '1 hour'`)).toBe('done')
    expect(await of(`expires_at = now() + interval '2 hours'`)).toBe('MH008')
    expect(await of('expires_at = NULL')).toBe('MH008')
    expect(await of(`expires_at = now() + interval '1 minute'`)).toBe('done')
  })
})

describe('who may', () => {
  it('ID-6, 7 an admin key makes keys of agents in its own name, and no admin keys', async () => {
    const key = await world.adminKey()
    const agent = await world.agent()
    const { apiKey } = await create(key, agent)
    expect(await row(apiKey.id)).toMatchObject({ created_by: null, created_by_key: key.keyId })
    const [fact] = await world.sql(
      'SELECT actor_kind, actor_user_id, actor_key_id, payload, durable FROM platform.audit_events WHERE target_id = $1',
      [uuidOf(apiKey.id)],
    )
    expect(fact).toEqual({
      actor_kind: 'api_key',
      actor_user_id: null,
      actor_key_id: key.keyId,
      payload: { agentId: agent.userId, prefix: apiKey.prefix, mode: 'live', scopes: ['work:read'] },
      durable: true,
    })
    const own = encodeId('ApiKey', key.keyId)
    const admin = await world.owner.mutate('apiKeyCreate', { admin: true, name: fresh() }, KEY)
    for (const outcome of [
      await key.mutate('apiKeyCreate', { admin: true, name: fresh() }),
      await rotate(key, own),
      await revoke(key, own),
      await revoke(key, admin.apiKey.id),
    ]) {
      expect(outcome).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await holds(admin.key)).toBe(true)
    const audit = await key.run(
      'query ($id: ID!) { auditEvents(first: 1, filter: { targetId: { eq: $id } }) { nodes { actorKind apiKey { id } } } }',
      { id: apiKey.id },
    )
    expect(audit.auditEvents.nodes).toEqual([{ actorKind: 'API_KEY', apiKey: { id: own } }])
  })

  it('ID-6 shows keys to admins, and to an agent the one that it calls with', async () => {
    const agent = await world.agent()
    const other = await world.agent()
    const ended = await create(world.owner, agent)
    await revoke(world.owner, ended.apiKey.id)
    const list =
      'query ($id: ID, $all: Boolean) { apiKeys(agentId: $id, includeEnded: $all) { totalCount nodes { id agent { name } } } }'
    const ids = async (all: boolean) =>
      (await world.owner.run(list, { id: agentId(agent), all })).apiKeys.nodes.map(({ id }: { id: string }) => id)
    const own = encodeId('ApiKey', agent.keyId)
    expect(await ids(false)).toEqual([own])
    expect(await ids(true)).toEqual([ended.apiKey.id, own])
    expect((await (await world.member()).send(list)).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    expect((await agent.send(list)).errors?.[0]?.extensions.code).toBe('FORBIDDEN')

    const seen = await agent.run(
      'query ($own: ID!, $other: ID!) { viewer { standing apiKey { id } agent { id } user { id } session { id } scopes } own: node(id: $own) { id } other: node(id: $other) { id } }',
      { own, other: encodeId('ApiKey', other.keyId) },
    )
    expect(seen).toMatchObject({
      viewer: {
        standing: 'AGENT',
        apiKey: { id: own },
        agent: { id: agentId(agent) },
        user: { id: agent.id },
        session: null,
      },
      own: { id: own },
      other: null,
    })
    expect(seen.viewer.scopes).toContain('ROOMS_READ')
    const key = await world.adminKey()
    expect((await key.run('{ viewer { standing user { id } org { id } scopes } }')).viewer).toEqual({
      standing: 'ADMIN_KEY',
      user: null,
      org: { id: encodeId('Org', world.org.id) },
      scopes: ['ADMIN'],
    })
  })
})
