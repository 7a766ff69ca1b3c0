import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeId } from '../../../src/graphql/ids.ts'
import { newId } from '../../../src/lib/type-id.ts'
import type { Actor } from '../../support/actor.ts'
import { uuidOf } from '../../support/world.ts'
import { all, WebhookWorld } from './webhook-world.ts'

let hooks: WebhookWorld
let admin: Actor
beforeAll(async () => {
  hooks = await WebhookWorld.open()
  admin = await hooks.world.member({ role: 'admin', space: null })
})
afterAll(() => hooks?.close())

const URL_OK = () => hooks.receivers.open().url
const inputOf = (more: object = {}) => ({ url: URL_OK(), eventTypes: ['*'], ...more })
const read = async (actor: Actor, id: string, selection = 'id url isActive') =>
  (await actor.run(`query ($id: ID!) { webhook(id: $id) { ${selection} } }`, { id })).webhook
const codes = async (attempts: Promise<{ code?: string; __typename: string }>[]) =>
  (await Promise.all(attempts)).map(({ code, __typename }) => code ?? __typename)

/** A space owned by a plain member of the org, who has made its endpoint. */
async function ownedSpace() {
  const owner = await hooks.world.member({ space: null })
  const space = await hooks.world.space({ owner })
  const endpoint = await hooks.endpoint({ by: owner, space })
  return { owner, space, endpoint }
}

describe('PLAT-35 making an endpoint', () => {
  it('PLAT-35 gives its secret once: 32 bytes, and its last characters as a hint', async () => {
    const made = await hooks.create(hooks.world.owner, inputOf())
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(made.secret.slice(6), 'base64')).toHaveLength(32)
    const shown = await read(
      hooks.world.owner,
      made.webhook.id,
      `secretHint eventTypes isActive disabledReason apiVersion failingSince lastSuccessAt createdBy { id } space { id }`,
    )
    expect(shown).toEqual({
      secretHint: made.secret.slice(-4),
      eventTypes: ['*'],
      isActive: true,
      disabledReason: null,
      apiVersion: '2026-01-01',
      failingSince: null,
      lastSuccessAt: null,
      createdBy: { id: hooks.world.owner.id },
      space: null,
    })
    await hooks.world.owner.mutate('webhookDelete', { id: made.webhook.id })
  })

  it.each([
    [['room.nothing'], 'eventTypes.0'],
    [['room.ended', 'Room.ended'], 'eventTypes.1'],
    [['vote.cast'], 'eventTypes.0'], // never delivered (ROOM-181)
    [['vote.*'], 'eventTypes.0'],
    [['*.ended'], 'eventTypes.0'],
    [['room'], 'eventTypes.0'],
    [[''], 'eventTypes.0'],
    [[], 'eventTypes'],
  ])('PLAT-35 refuses event types that stand for nothing delivered: %j', async (eventTypes, path) => {
    const refused = await hooks.create(hooks.world.owner, inputOf({ eventTypes }))
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['input', ...path.split('.')] }] })
  })

  it.each([
    'http://8.8.8.8/',
    'https://10.0.0.1/',
    'https://0x0a000001/',
    'https://167772161/',
    'https://012.0.0.1/',
    'https://[::ffff:10.0.0.1]/',
    'https://[2002:a00:1::]/',
    'https://[64:ff9b::a00:1]/',
    'https://169.254.169.254/latest/',
    'https://user:word@hooks.example.com/',
    'https://hooks.example.com/#part',
    'ftp://hooks.example.com/',
    'hooks.example.com',
    '',
  ])('PLAT-47 refuses %s', async (url) => {
    const refused = await hooks.create(hooks.world.owner, inputOf({ url }))
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['input', 'url'] }] })
    const { endpoint, owner } = await ownedSpace()
    expect(await owner.mutate('webhookUpdate', { id: endpoint.id, url })).toMatchObject({ code: 'INVALID_INPUT' })
    expect((await read(owner, endpoint.id)).url).toBe(endpoint.receiver.url)
  })

  it('PLAT-35 an org has at most 20 of its own, a space one', async () => {
    const other = await hooks.world.otherOrg()
    const made = await Promise.all(Array.from({ length: 24 }, () => hooks.create(other, inputOf())))
    expect(made.filter(({ secret }) => secret)).toHaveLength(20)
    expect(made.filter(({ code }) => code === 'LIMIT_REACHED')).toHaveLength(4)
    const twice = await Promise.all([1, 2].map(() => hooks.create(other, inputOf({ spaceId: other.space.id }))))
    expect(twice.map(({ code }) => code ?? 'made').toSorted()).toEqual(['CONFLICT', 'made'])
  })
})

describe('ID-6 whose it is', () => {
  it('ID-6 the org’s endpoints are its owners’ and admins’, a space’s its owners’', async () => {
    const { world } = hooks
    const [member, viewer] = [await world.member(), await world.viewer()]
    const anonymous = await world.anonymous()
    const key = await world.adminKey()
    expect(await codes([hooks.create(admin, inputOf())])).toEqual(['WebhookCreatePayload'])
    expect(await codes([hooks.create(key, inputOf())])).toEqual(['WebhookCreatePayload'])
    expect(await codes([hooks.create(key, inputOf({ spaceId: world.home.id }))])).toEqual(['NOT_FOUND'])
    expect(
      await codes([member, viewer, anonymous, await world.embedded()].map((actor) => hooks.create(actor, inputOf()))),
    ).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'])

    const spaceId = world.home.id
    expect(await codes([hooks.create(member, inputOf({ spaceId }))])).toEqual(['FORBIDDEN'])
    // An admin of the org cannot make a space's endpoint, not even one that is theirs in all but the space.
    expect(await codes([hooks.create(admin, inputOf({ spaceId }))])).toEqual(['NOT_FOUND'])
    await world.join(admin)
    expect(await codes([hooks.create(admin, inputOf({ spaceId }))])).toEqual(['FORBIDDEN'])
  })

  it('ID-6 admins see a space’s endpoint, may switch it off or delete it, and no more', async () => {
    const { endpoint, space, owner } = await ownedSpace()
    const { id } = endpoint
    await hooks.fact(space, 'Zqtitle', owner)
    const [delivery] = await hooks.untilDeliveries(endpoint, all('delivered'))
    const deliveryId = encodeId('WebhookDelivery', delivery!.id)
    expect(await read(admin, id, 'url space { id } deliveries { totalCount nodes { id } }')).toEqual({
      url: endpoint.receiver.url,
      space: { id: space.id },
      deliveries: { totalCount: 0, nodes: [] },
    })
    const list = 'query ($id: ID!) { webhookDeliveries(webhookId: $id) { nodes { id attempts { responseBody } } } }'
    expect(await admin.run(list, { id })).toEqual({ webhookDeliveries: { nodes: [] } })
    expect((await owner.run(list, { id })).webhookDeliveries.nodes).toMatchObject([{ id: deliveryId }])
    const node = 'query ($id: ID!) { node(id: $id) { id } }'
    expect(await admin.run(node, { id: deliveryId })).toEqual({ node: null })
    expect(await owner.run(node, { id: deliveryId })).toEqual({ node: { id: deliveryId } })

    expect(
      await codes([
        admin.mutate('webhookUpdate', { id, url: URL_OK() }),
        admin.mutate('webhookUpdate', { id, eventTypes: ['room.*'] }),
        admin.mutate('webhookUpdate', { id, isActive: false, eventTypes: ['room.*'] }),
        admin.mutate('webhookRotateSecret', { id }),
        admin.mutate('webhookTest', { id }),
        admin.mutate('webhookDeliveryRedeliver', { id: deliveryId }),
      ]),
    ).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'NOT_FOUND'])
    expect(await codes([admin.mutate('webhookUpdate', { id, isActive: false })])).toEqual(['WebhookUpdatePayload'])
    expect(await read(owner, id, 'isActive disabledReason url eventTypes')).toEqual({
      isActive: false,
      disabledReason: 'MANUAL',
      url: endpoint.receiver.url,
      eventTypes: ['*'],
    })
    expect(await codes([admin.mutate('webhookUpdate', { id, isActive: true })])).toEqual(['FORBIDDEN'])
    expect(await codes([owner.mutate('webhookUpdate', { id, isActive: true })])).toEqual(['WebhookUpdatePayload'])
    expect(await codes([admin.mutate('webhookDelete', { id })])).toEqual(['WebhookDeletePayload'])
    expect(await read(owner, id)).toBe(null)
  })

  it('ID-6, PLAT-31 to everybody else it is not there, in another org least of all', async () => {
    const { endpoint, space, owner } = await ownedSpace()
    const { id } = endpoint
    await hooks.fact(space, 'Plan', owner)
    const [delivery] = await hooks.untilDeliveries(endpoint, all('delivered'))
    const deliveryId = encodeId('WebhookDelivery', delivery!.id)
    const stranger = await hooks.world.otherOrg()
    const member = await hooks.world.member({ space })
    const formerOwner = await hooks.world.member({ space, spaceRole: 'owner' })
    expect(await read(formerOwner, id)).toMatchObject({ id })
    await hooks.world.sql(`UPDATE rooms.space_members SET role = 'member' WHERE user_id = $1`, [formerOwner.userId])
    for (const actor of [stranger, member, formerOwner]) {
      expect(await read(actor, id)).toBe(null)
      const lists = `query ($id: ID!, $spaceId: ID) {
        webhooks(spaceId: $spaceId) { nodes { id } } webhookDeliveries(webhookId: $id) { totalCount nodes { id } }
        nodes(ids: ["${id}", "${deliveryId}"]) { id } }`
      expect(await actor.run(lists, { id, spaceId: space.id })).toEqual({
        webhooks: { nodes: [] },
        webhookDeliveries: { totalCount: 0, nodes: [] },
        nodes: [null, null],
      })
      expect(
        await codes([
          actor.mutate('webhookUpdate', { id, isActive: false }),
          actor.mutate('webhookDelete', { id }),
          actor.mutate('webhookRotateSecret', { id }),
          actor.mutate('webhookTest', { id }),
          actor.mutate('webhookDeliveryRedeliver', { id: deliveryId }),
        ]),
      ).toEqual(Array(5).fill('NOT_FOUND'))
    }
    expect(await codes([stranger.mutate('webhookDelete', { id: encodeId('Webhook', newId()) })])).toEqual(['NOT_FOUND'])
    expect(await codes([hooks.create(stranger, inputOf({ spaceId: space.id }))])).toEqual(['NOT_FOUND'])
    expect(await hooks.endpointRow(endpoint)).toMatchObject({ is_active: true })
  })
})

describe('PLAT-37, 44, 45 what is done with it', () => {
  it('PLAT-45 deleting drops the endpoint with its deliveries; the record stays', async () => {
    const { endpoint, space, owner } = await ownedSpace()
    await hooks.fact(space, 'Plan', owner)
    await hooks.untilDeliveries(endpoint, all('delivered'))
    await owner.mutate('webhookDelete', { id: endpoint.id })
    expect(await hooks.deliveries(endpoint)).toEqual([])
    expect(await hooks.world.facts({ space })).toEqual(expect.arrayContaining(['webhook.created', 'webhook.deleted']))
  })

  it('PLAT-13 an update that changes nothing records nothing; each change says which fields', async () => {
    const { endpoint, space, owner } = await ownedSpace()
    const { id, receiver } = endpoint
    await owner.mutate('webhookUpdate', { id, url: receiver.url, eventTypes: ['*'], isActive: true })
    expect((await hooks.world.facts({ space })).includes('webhook.updated')).toBe(false)
    await owner.mutate('webhookUpdate', { id, eventTypes: ['room.ended', 'room.ended', 'story.*'], isActive: false })
    const [event] = await hooks.world.sql<{ payload: object; target_id: string }>(
      `SELECT payload, target_id FROM platform.audit_events WHERE event_type = 'webhook.updated' AND space_id = $1`,
      [space.uuid],
    )
    expect(event).toEqual({ payload: { fields: ['eventTypes', 'isActive'], isActive: false }, target_id: uuidOf(id) })
    expect(await read(owner, id, 'eventTypes')).toEqual({ eventTypes: ['room.ended', 'story.*'] })
  })

  it('PLAT-37 of two rotations at once one wins, and its secret is the one that holds', async () => {
    const { endpoint, owner } = await ownedSpace()
    const rotate = () => owner.mutate('webhookRotateSecret', { id: endpoint.id }, 'secret')
    const rotated = await Promise.all([rotate(), rotate(), rotate()])
    const won = rotated.filter(({ secret }) => secret)
    expect(won.length).toBeGreaterThanOrEqual(1)
    expect(rotated.every(({ secret, code }) => secret || code === 'CONFLICT')).toBe(true)
    const { secretHint } = await read(owner, endpoint.id, 'secretHint')
    expect(won.map(({ secret }) => secret.slice(-4))).toContain(secretHint)
    expect(await owner.mutate('webhookRotateSecret', { id: endpoint.id, graceHours: 169 })).toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  it('PLAT-44 shows deliveries by state, with their event and attempts', async () => {
    const { endpoint, space, owner } = await ownedSpace()
    await hooks.fact(space, 'Plan', owner)
    await hooks.untilDeliveries(endpoint, all('delivered'))
    endpoint.receiver.answer = () => ({ status: 500, body: 'broken' })
    await hooks.fact(space, 'Plan', owner)
    await hooks.untilDeliveries(endpoint, (rows) => rows.some(({ last_error }) => last_error !== null))
    const list = `query ($id: ID!, $state: WebhookDeliveryState) { webhookDeliveries(webhookId: $id, state: $state) {
      totalCount nodes { state event { type } attempts { attempt status responseStatus responseBody errorMessage }
        nextAttemptAt deliveredAt failedAt lastError } } }`
    const delivered = (await owner.run(list, { id: endpoint.id, state: 'DELIVERED' })).webhookDeliveries
    expect(delivered).toEqual({
      totalCount: 1,
      nodes: [
        {
          state: 'DELIVERED',
          event: { type: 'room.created' },
          attempts: [{ attempt: 1, status: 'SUCCEEDED', responseStatus: 200, responseBody: '', errorMessage: null }],
          nextAttemptAt: null,
          deliveredAt: expect.any(String),
          failedAt: null,
          lastError: null,
        },
      ],
    })
    const pending = (await owner.run(list, { id: endpoint.id, state: 'PENDING' })).webhookDeliveries
    expect(pending.nodes).toMatchObject([
      {
        state: 'PENDING',
        attempts: [{ status: 'FAILED', responseStatus: 500, responseBody: 'broken', errorMessage: 'answered 500' }],
        nextAttemptAt: expect.any(String),
        lastError: 'answered 500',
      },
    ])
    expect((await owner.run(list, { id: endpoint.id })).webhookDeliveries.totalCount).toBe(2)
    await owner.mutate('webhookDelete', { id: endpoint.id })
  })
})
