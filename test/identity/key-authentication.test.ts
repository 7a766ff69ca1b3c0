import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { flushKeyUse } from '../../src/identity/index.ts'
import { currentBus } from '../../src/live/current-bus.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp({ MOOTHALL_TRUST_PROXY: '1', MOOTHALL_RATE_AGENT: '30' }))
})
afterAll(() => world.close())

let addresses = 0
/** Failures are counted by address, so each test comes from one of its own. */
const newAddress = () => `2001:db8:${(++addresses).toString(16)}::7`

const ASK = '{ viewer { standing } }'
const ask = (token: string, address = newAddress(), document = ASK) =>
  world.app.client(token).send(document, {}, { 'x-forwarded-for': address })
const codeOf = ({ errors }: Answer) => errors?.[0]?.extensions.code ?? 'ok'
const wrong = (key: string) => `${key.slice(0, 16)}${randomBytes(32).toString('base64url')}`
const agentId = ({ userId }: Actor) => encodeId('Agent', userId)

describe('a key that does not hold', () => {
  it('ID-51 is answered alike, whether unknown, wrong, revoked, expired, malformed or of a purged org', async () => {
    const [revoked, expired, held] = [await world.agent(), await world.agent(), await world.agent()]
    await world.sql('UPDATE identity.api_keys SET revoked_at = now() WHERE id = $1', [revoked.keyId])
    await world.sql('UPDATE identity.api_keys SET expires_at = now() WHERE id = $1', [expired.keyId])
    const gone = await (await createWorld(world.app)).adminKey()
    await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [gone.orgId])
    await world.sql(`UPDATE identity.orgs SET status = 'purging' WHERE id = $1`, [gone.orgId])
    const answers = await Promise.all(
      [
        `mh_live_${randomBytes(4).toString('hex')}${randomBytes(32).toString('base64url')}`,
        wrong(held.key),
        revoked.key,
        expired.key,
        held.key.slice(0, -1),
        `${held.key}A`,
        'mh_',
        gone.key,
      ].map(async (key) => {
        const response = await world.app.client(key).post(ASK, {}, { 'x-forwarded-for': newAddress() })
        const body = (await response.json()) as Answer
        delete body.errors![0]!.extensions.requestId
        return { status: response.status, body }
      }),
    )
    expect(answers[0]).toMatchObject({ status: 401, body: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] } })
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(codeOf(await ask(held.key))).toBe('ok')
  })

  it('ID-51 counts 20 failures a minute by address, and then looks no key up from there', async () => {
    const address = newAddress()
    const tries = await Promise.all(
      Array.from({ length: 25 }, () =>
        ask(`mh_live_${randomBytes(4).toString('hex')}${randomBytes(32).toString('base64url')}`, address),
      ),
    )
    expect(tries.filter((answer) => codeOf(answer) === 'UNAUTHENTICATED')).toHaveLength(20)
    expect(tries.filter((answer) => codeOf(answer) === 'RATE_LIMITED')).toHaveLength(5)
    const agent = await world.agent()
    expect(codeOf(await ask(agent.key, address))).toBe('RATE_LIMITED')
    expect(codeOf(await ask(agent.key))).toBe('ok')
    expect(codeOf(await ask(agent.key, address))).toBe('ok') // known by now, so there is nothing to guess
  })

  it('ID-51 counts 20 failures a minute by prefix, from wherever they come, and shuts the right key out never', async () => {
    const agent = await world.agent()
    const tries = await Promise.all(Array.from({ length: 25 }, () => ask(wrong(agent.key))))
    expect(tries.filter((answer) => codeOf(answer) === 'UNAUTHENTICATED')).toHaveLength(20)
    expect(tries.filter((answer) => codeOf(answer) === 'RATE_LIMITED')).toHaveLength(5)
    expect(codeOf(await ask(agent.key))).toBe('ok')
  })

  it('ID-1 wins over a cookie that would hold, and is never nobody', async () => {
    const { owner } = world
    const cookie = { cookie: `moothall=${owner.client.token}` }
    const answer = await world.app.client('mh_live_no').send(ASK, {}, { ...cookie, 'x-forwarded-for': newAddress() })
    expect(codeOf(answer)).toBe('UNAUTHENTICATED')
  })
})

describe('a halted agent', () => {
  const states = async () => {
    const agent = await world.agent()
    const admin = await world.adminKey()
    return { agent, admin, code: async () => codeOf(await ask(agent.key)) }
  }

  it('ID-43 is refused from the very next call on, and goes on with the same key when resumed', async () => {
    const { agent, code } = await states()
    const set = (name: string) => world.owner.mutate(name, { id: agentId(agent) })
    expect(await code()).toBe('ok')
    expect(await set('agentSuspend')).toMatchObject({ __typename: 'AgentSuspendPayload' })
    expect(await code()).toBe('AGENT_SUSPENDED')
    await set('agentResume')
    expect(await code()).toBe('ok')
    await set('agentStop')
    expect(await code()).toBe('AGENT_STOPPED')
    await set('agentResume')
    expect(await code()).toBe('ok')
  })

  it('ID-58, 59 is refused while its org is stopped or archived; people and admin keys go on', async () => {
    const own = await createWorld(world.app)
    const [agent, admin] = [await own.agent(), await own.adminKey()]
    const codes = async () =>
      Promise.all([agent.key, admin.key, own.owner.client.token!].map(async (token) => codeOf(await ask(token))))
    const during = async (name: string, back: string) => {
      const input = name === 'orgStop' ? { reason: 'enough' } : {}
      expect((await own.owner.mutate(name, input)).code).toBeUndefined()
      const found = await codes()
      expect((await own.owner.mutate(back, {})).code).toBeUndefined()
      return found
    }
    expect(await codes()).toEqual(['ok', 'ok', 'ok'])
    expect(await during('orgStop', 'orgResume')).toEqual(['ORG_STOPPED', 'ok', 'ok'])
    expect(await during('orgArchive', 'orgUnarchive')).toEqual(['ORG_ARCHIVED', 'ok', 'ok'])
    expect(await codes()).toEqual(['ok', 'ok', 'ok'])
  })

  it('PLAT-62 is told so with 403 and a code, on every kind of operation', async () => {
    const { agent } = await states()
    await world.owner.mutate('agentStop', { id: agentId(agent) })
    for (const document of [ASK, '{ __typename }', 'mutation { sessionEnd { __typename } }']) {
      const response = await world.app.client(agent.key).post(document)
      expect(response.status).toBe(403)
      expect(codeOf((await response.json()) as Answer)).toBe('AGENT_STOPPED')
    }
  })

  it('ID-3, 69 has its mode changed for the very next call', async () => {
    const agent = await world.agent()
    const say = async () => (await agent.mutate('spaceSeen', { id: world.home.id })).code ?? 'ok'
    const mode = (to: string) => world.owner.mutate('agentUpdate', { id: agentId(agent), mode: to })
    expect(await say()).toBe('ok')
    await mode('READ')
    expect(await say()).toBe('FORBIDDEN')
    await mode('WRITE')
    expect(await say()).toBe('ok')
  })
})

describe('what a process remembers of keys', () => {
  /** Ends a key behind the back of everybody who listens. */
  const endUnheard = async (keyId: string) => {
    await world.sql(`BEGIN; ALTER TABLE identity.api_keys DISABLE TRIGGER announce;
      UPDATE identity.api_keys SET revoked_at = now() WHERE id = '${keyId}';
      ALTER TABLE identity.api_keys ENABLE TRIGGER announce; COMMIT`)
  }

  it('PLAT-29 is used while its listener is confirmed, dropped by a hint, and not used in doubt', async () => {
    const [unheard, heard] = [await world.agent(), await world.agent()]
    await vi.waitUntil(() => currentBus().confirmed, { timeout: 10_000 })
    for (const { key } of [unheard, heard]) expect(codeOf(await ask(key))).toBe('ok')

    await endUnheard(unheard.keyId)
    expect(codeOf(await ask(unheard.key))).toBe('ok')
    await endUnheard(heard.keyId)
    await world.sql(`SELECT platform.notify_identity('key', $1, 'revoked', $2)`, [heard.keyId, world.org.id])
    await vi.waitFor(async () => expect(codeOf(await ask(heard.key))).toBe('UNAUTHENTICATED'), { timeout: 1_000 })
    expect(codeOf(await ask(unheard.key))).toBe('ok')

    const doubtful = vi.waitUntil(() => !currentBus().confirmed, { timeout: 10_000, interval: 1 })
    const admin = new pg.Client({ connectionString: world.app.database.superuserUrl })
    await admin.connect()
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'moothall listener'`,
    )
    await admin.end()
    await doubtful
    expect(codeOf(await ask(unheard.key))).toBe('UNAUTHENTICATED')
    await vi.waitUntil(() => currentBus().confirmed, { timeout: 10_000 })
    expect(codeOf(await ask(unheard.key))).toBe('UNAUTHENTICATED')
  })

  it('PLAT-29 forgets a key when it has been known for 30 s', async () => {
    const agent = await world.agent()
    await vi.waitUntil(() => currentBus().confirmed, { timeout: 10_000 })
    expect(codeOf(await ask(agent.key))).toBe('ok')
    await endUnheard(agent.keyId)
    expect(codeOf(await ask(agent.key))).toBe('ok')
    const now = performance.now.bind(performance)
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 30_001)
    try {
      expect(codeOf(await ask(agent.key))).toBe('UNAUTHENTICATED')
    } finally {
      later.mockRestore()
    }
  })
})

describe('use of keys', () => {
  const usedAt = async (keyId: string) =>
    (
      await world.sql<{ at: Date | null }>('SELECT last_used_at AS at FROM identity.api_keys WHERE id = $1', [keyId])
    )[0]!.at

  it('ID-55 is written once a minute, for admin keys too, and not by the request itself', async () => {
    const keys = [await world.agent(), await world.adminKey()]
    await flushKeyUse()
    for (const { key, keyId } of keys) {
      await ask(key)
      expect(await usedAt(keyId)).toBeNull()
    }
    await flushKeyUse()
    for (const { keyId } of keys) expect(Math.abs((await usedAt(keyId))!.getTime() - Date.now())).toBeLessThan(10_000)

    const { key, keyId } = keys[0]!
    const first = await usedAt(keyId)
    await ask(key)
    await flushKeyUse()
    expect(await usedAt(keyId)).toEqual(first)
    await world.sql(`UPDATE identity.api_keys SET last_used_at = now() - interval '61 seconds' WHERE id = $1`, [keyId])
    await ask(key)
    await flushKeyUse()
    expect(Date.now() - (await usedAt(keyId))!.getTime()).toBeLessThan(10_000)
  })

  it('ID-47, PLAT-69 is held to the agent’s own rate, else to that of all agents, and counted by agent', async () => {
    const [plain, slow] = [await world.agent(), await world.agent()]
    await world.owner.mutate('agentUpdate', { id: agentId(slow), rateLimitPerMinute: 4 })
    const count = async (key: string, times: number) => {
      const answers = await Promise.all(Array.from({ length: times }, () => ask(key)))
      return answers.filter((answer) => codeOf(answer) === 'ok').length
    }
    expect(await count(slow.key, 8)).toBe(4)
    const second = await world.key({ agentId: slow.userId })
    expect(await count(second.key, 2)).toBe(0)
    expect(await count(plain.key, 33)).toBe(30)
    const response = await world.app.client((await world.agent()).key).post(ASK)
    expect(response.headers.get('x-ratelimit-limit')).toBe('30')
  })
})

describe('scopes', () => {
  it('ID-44, ROOM-22 open rooms for an agent that its key has them for, and nothing of another space', async () => {
    const { room } = await world.pokerRoom()
    const other = await world.outsider()
    const elsewhere = await world.pokerRoom({ space: other.space })
    const agent = await world.agent()
    const deaf = await world.agent({ scopes: ['work:read', 'work:write', 'rooms:write'] })
    const mute = await world.agent({ scopes: ['rooms:read'] })
    const node = async (asker: Actor, id: string) =>
      (await asker.run('query ($id: ID!) { node(id: $id) { id } }', { id })).node
    const say = async (asker: Actor) => (await asker.vote(room, '5')).code ?? 'ok'

    for (const asker of [agent, mute]) {
      expect(await asker.room(room, 'title')).toEqual({ title: 'Planning' })
      expect(await node(asker, room.id)).toEqual({ id: room.id })
      expect(await node(asker, elsewhere.room.id)).toBeNull()
    }
    expect([await say(agent), await say(mute)]).toEqual(['ok', 'FORBIDDEN'])
    const refused = await deaf.send('query ($id: ID!) { room(id: $id) { id } }', { id: room.id })
    expect(codeOf(refused)).toBe('FORBIDDEN')
    for (const id of [room.id, room.spaceId, room.round.storyId]) expect(await node(deaf, id)).toBeNull()
  })

  it('ROOM-22 lets nobody see or be waited for who is suspended, and an agent that only reads cast nothing', async () => {
    const { room } = await world.pokerRoom()
    const [writer, reader, halted] = [await world.agent(), await world.agent({ mode: 'read' }), await world.agent()]
    await world.owner.mutate('agentSuspend', { id: agentId(halted) })
    const people = await world.sql<{ user_id: string; sees: boolean; can_vote: boolean }>(
      'SELECT user_id, sees, can_vote FROM rooms.room_circle($1, $2) WHERE user_id = ANY ($3)',
      [world.org.id, room.uuid, [writer.userId, reader.userId, halted.userId]],
    )
    const of = ({ userId }: Actor) => people.find(({ user_id }) => user_id === userId)
    expect(of(writer)).toMatchObject({ sees: true, can_vote: true })
    expect(of(reader)).toMatchObject({ sees: true, can_vote: false })
    expect(of(halted)).toMatchObject({ sees: false, can_vote: false })
  })
})
