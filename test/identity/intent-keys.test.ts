import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { encodeId } from '../../src/graphql/ids.ts'
import { usableIntentKey, useIntentNonce } from '../../src/identity/index.ts'
import { pruneIntentNonces } from '../../src/identity/sweeps.ts'
import type { Actor } from '../support/actor.ts'
import { publicKeyOf, WEAK_KEYS } from '../support/weak-keys.ts'
import type { World } from '../support/world.ts'
import { factsAbout, startIdentityApp } from './identity-app.ts'

let world: World
beforeAll(async () => {
  world = await startIdentityApp()
})
afterAll(() => world?.close())

function newKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
  return { raw, text: publicKeyOf(raw), kid: kidOf(raw), privateKey }
}
const kidOf = (raw: Buffer) => createHash('sha256').update(raw).digest('hex').slice(0, 32)

const KEYS = 'agent { intentKeys { kid publicKey usable createdAt createdBy { id } } }'
const add = (agent: Actor, publicKey: string, by: Pick<Actor, 'mutate'> = world.owner) =>
  by.mutate(
    'agentAddIntentKey',
    { id: encodeId('Agent', agent.userId), publicKey },
    `kid ${KEYS}`,
    '... on LimitReachedError { limit }',
  )
const remove = (agent: Actor, kid: string) =>
  world.owner.mutate('agentRemoveIntentKey', { id: encodeId('Agent', agent.userId), kid }, KEYS)
const storedKeys = async (agent: Actor) =>
  (await world.sql('SELECT intent_keys FROM identity.agents WHERE id = $1', [agent.userId]))[0]!['intent_keys']

describe('the keys of an agent’s intents', () => {
  it('ID-48 are added and removed by name, each with its fact', async () => {
    const agent = await world.agent()
    const key = newKey()
    expect(await add(agent, key.text)).toEqual({
      __typename: 'AgentAddIntentKeyPayload',
      kid: key.kid,
      agent: {
        intentKeys: [
          {
            kid: key.kid,
            publicKey: key.text,
            usable: true,
            createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
            createdBy: { id: world.owner.id },
          },
        ],
      },
    })
    const message = randomBytes(40)
    const usable = usableIntentKey(await storedKeys(agent), key.kid)!
    expect(verify(null, message, usable, sign(null, message, key.privateKey))).toBe(true)

    expect(await remove(agent, key.kid)).toMatchObject({ agent: { intentKeys: [] } })
    expect(usableIntentKey(await storedKeys(agent), key.kid)).toBeNull()
    expect(await remove(agent, key.kid)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'kid'] })
    expect(await factsAbout(world, agent.userId)).toMatchObject([
      { type: 'agent.intent_key_added', payload: { kid: key.kid } },
      { type: 'agent.intent_key_removed', payload: { kid: key.kid } },
    ])
  })

  it('ID-48 are two at most, also when three come at once, and no key is there twice', async () => {
    const agent = await world.agent()
    const three = [newKey(), newKey(), newKey()]
    const answers = await Promise.all(three.map(({ text }) => add(agent, text)))
    expect(answers.map(({ code = 'ok' }) => code).sort()).toEqual(['LIMIT_REACHED', 'ok', 'ok'])
    expect(answers.find(({ code }) => code)).toMatchObject({ limit: 2 })

    const other = await world.agent()
    const [key] = three
    const same = await Promise.all([add(other, key!.text), add(other, key!.text)])
    expect(same.map(({ code = 'ok' }) => code).sort()).toEqual(['CONFLICT', 'ok'])
  })

  it.each(WEAK_KEYS)('ID-48 refuses %s when added, and when planted in the table', async (_, hex) => {
    const raw = Buffer.from(hex, 'hex')
    const agent = await world.agent()
    expect(await add(agent, publicKeyOf(raw))).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'publicKey'], message: expect.stringMatching(/canonically|small order/) }],
    })
    expect(await storedKeys(agent)).toEqual([])

    await plant(agent, { kid: kidOf(raw), public_key: publicKeyOf(raw) })
    expect(usableIntentKey(await storedKeys(agent), kidOf(raw))).toBeNull()
    const { agent: shown } = await world.owner.run('query ($id: ID!) { agent(id: $id) { intentKeys { usable } } }', {
      id: encodeId('Agent', agent.userId),
    })
    expect(shown.intentKeys).toEqual([{ usable: false }])
  })

  it('ID-48 a planted key under another’s name, in another spelling or off its form opens nothing', async () => {
    const agent = await world.agent()
    const [key, other] = [newKey(), newKey()]
    await plant(agent, { kid: other.kid, public_key: key.text })
    expect(usableIntentKey(await storedKeys(agent), other.kid)).toBeNull()

    // The last of 43 characters has two bits that mean nothing.
    const respelled = `${key.text.slice(0, -1)}${String.fromCharCode(key.text.charCodeAt(50) + 1)}`
    expect(Buffer.from(respelled.slice(8), 'base64url').equals(key.raw)).toBe(true)
    await plant(agent, { kid: key.kid, public_key: respelled })
    expect(usableIntentKey(await storedKeys(agent), key.kid)).toBeNull()
    expect(await add(await world.agent(), respelled)).toMatchObject({ code: 'INVALID_INPUT' })

    for (const column of [null, {}, 'x', [1], [{ kid: key.kid }], [{ kid: key.kid, public_key: 'ed25519:' }]]) {
      expect(usableIntentKey(column, key.kid)).toBeNull()
    }
  })

  it('ID-48 refuses what is no key in the one form', async () => {
    const agent = await world.agent()
    const { text, raw } = newKey()
    const texts = [text.slice(8), `ED25519:${text.slice(8)}`, `${text}=`, `ed25519:${raw.toString('hex')}`, `${text}A`]
    for (const given of [...texts, '', 'ed25519:']) {
      expect(await add(agent, given)).toMatchObject({ code: 'INVALID_INPUT' })
    }
  })

  it('ID-6, 48 are shown to admins and the agent itself, and null to others', async () => {
    const agent = await world.agent()
    await add(agent, newKey().text, await world.adminKey())
    const ask = async (who: Pick<Actor, 'run'>) =>
      (
        await who.run('query ($id: ID!) { agent(id: $id) { intentKeys { kid createdBy { id } } budgets } }', {
          id: encodeId('Agent', agent.userId),
        })
      ).agent.intentKeys
    expect(await ask(world.owner)).toMatchObject([{ createdBy: null }])
    expect(await ask(agent)).toHaveLength(1)
    expect(await ask(await world.agent())).toBeNull()
    expect(await ask(await world.member())).toBeNull()
  })

  /** Past every check of ours but the table's own. */
  async function plant(agent: Actor, key: { kid: string; public_key: string }): Promise<void> {
    const planted = [{ ...key, created_at: '2026-01-01T00:00:00Z', created_by: world.owner.userId }]
    await world.sql('UPDATE identity.agents SET intent_keys = $2::jsonb WHERE id = $1', [
      agent.userId,
      JSON.stringify(planted),
    ])
    // Importing proves nothing: that is what the check is for.
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.public_key.slice(8) }, format: 'jwk' })
  }
})

describe('nonces', () => {
  const use = (agent: Actor, nonce: string, expiresAt = new Date(Date.now() + 60_000).toISOString()) =>
    operation('write', { orgId: agent.orgId, userId: agent.userId }, () =>
      useIntentNonce({ orgId: agent.orgId, agentId: agent.userId, nonce, intentHash: randomBytes(32), expiresAt }),
    )
  const newNonce = () => randomBytes(16).toString('base64url')

  it('ID-49 one nonce used fifty times at once is inserted once', async () => {
    const agent = await world.agent()
    const nonce = newNonce()
    const uses = await Promise.all(Array.from({ length: 50 }, () => use(agent, nonce)))
    expect(uses.filter((spent) => spent)).toHaveLength(1)
    expect(await world.sql('SELECT 1 FROM identity.intent_nonces WHERE nonce = $1', [nonce])).toHaveLength(1)
    expect(await use(await world.agent(), nonce)).toBe(true)
  })

  it('ID-49, GATE-14 a use that is rolled back spends nothing', async () => {
    const agent = await world.agent()
    const nonce = newNonce()
    const scope = { orgId: agent.orgId, userId: agent.userId }
    const failing = operation('write', scope, async () => {
      const spent = await useIntentNonce({
        orgId: agent.orgId,
        agentId: agent.userId,
        nonce,
        intentHash: randomBytes(32),
        expiresAt: '2999-01-01T00:00:00Z',
      })
      throw new Error(`spent ${spent}`)
    })
    await expect(failing).rejects.toThrow('spent true')
    expect(await use(agent, nonce)).toBe(true)
  })

  it('ID-49 goes two minutes after the intent’s end, and not before', async () => {
    const agent = await world.agent()
    const put = (nonce: string, secondsAgo: number) =>
      world.sql(
        `INSERT INTO identity.intent_nonces (org_id, agent_id, nonce, intent_hash, expires_at)
         VALUES ($1, $2, $3, $4, now() - make_interval(secs => $5))`,
        [agent.orgId, agent.userId, nonce, randomBytes(32), secondsAgo],
      )
    const [gone, kept] = [newNonce(), newNonce()]
    await put(gone, 121)
    await put(kept, 115)
    await pruneIntentNonces()
    const left = await world.sql('SELECT nonce FROM identity.intent_nonces WHERE nonce = ANY ($1)', [[gone, kept]])
    expect(left).toEqual([{ nonce: kept }])
  })

  it('ID-49 is pruned the oldest first, a batch at a time', async () => {
    const agent = await world.agent()
    await world.sql(
      `INSERT INTO identity.intent_nonces (org_id, agent_id, nonce, intent_hash, expires_at)
       SELECT $1, $2, 'nonce-of-the-batch-' || n, sha256('x'), now() - interval '1 hour' - n * interval '1 second'
       FROM generate_series(1, 12) AS n`,
      [agent.orgId, agent.userId],
    )
    const [pruned] = await world.sql('SELECT identity.maint_prune_intent_nonces(5) AS removed')
    expect(pruned).toEqual({ removed: 5 })
    const left = await world.sql(
      `SELECT substr(nonce, 20)::int AS n FROM identity.intent_nonces WHERE agent_id = $1 ORDER BY 1`,
      [agent.userId],
    )
    expect(left.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })
})
