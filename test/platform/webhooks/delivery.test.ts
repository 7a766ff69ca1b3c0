import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { encodeId } from '../../../src/graphql/ids.ts'
import { deliver } from '../../../src/platform/webhook/deliver.ts'
import { gate, type Received } from '../../support/receiver.ts'
import { uuidOf } from '../../support/world.ts'
import { all, type DeliveryRow, type Endpoint, WebhookWorld } from './webhook-world.ts'

let hooks: WebhookWorld
beforeAll(async () => {
  hooks = await WebhookWorld.open()
})
afterAll(() => hooks?.close())

const jsonOf = ({ body }: Received) => JSON.parse(body.toString())
const signed = ({ headers }: Received) => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
})
const verifies = (secret: string, request: Received) => {
  try {
    new Webhook(secret).verify(request.body, signed(request))
    return true
  } catch {
    return false
  }
}
const sql = (text: string, values: unknown[] = []) => hooks.world.sql(text, values)
const failing = () => hooks.receivers.open(() => ({ status: 500 }))
const typesOf = (rows: DeliveryRow[]) => rows.map(({ event_type }) => event_type)

/** The feed waits for whoever writes anywhere in the cluster. */
const PATIENCE = { timeout: 15_000, interval: 50 }

describe('PLAT-39, PLAT-40 what is sent', () => {
  it('PLAT-39, PLAT-40 is the event as its projection has it, signed by the one secret', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space })
    const { room } = await hooks.fact(space, 'Secret plan')
    const [request] = await endpoint.receiver.until(1)
    const [row] = await hooks.untilDeliveries(endpoint, all('delivered'))
    const body = jsonOf(request!)
    const { world } = hooks
    expect(Object.keys(body)).toEqual(['id', 'type', 'timestamp', 'api_version', 'org_id', 'actor', 'cursor', 'data'])
    expect(body).toMatchObject({
      id: request!.headers['webhook-id'],
      type: 'room.created',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/),
      api_version: '2026-01-01',
      org_id: encodeId('Org', world.org.id),
      actor: { kind: 'human', id: world.owner.id },
      data: { space: { id: space.id, slug: space.slug }, room: { id: room.id, title: 'Secret plan' } },
    })
    expect(request!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Moothall\/\d/),
      'moothall-attempt': '1',
    })
    expect(row!.body!.equals(request!.body)).toBe(true)
    expect(verifies(endpoint.secret, request!)).toBe(true)
    const [attempt] = await hooks.attempts(row!)
    expect(attempt).toMatchObject({ attempt: 1, status: 'succeeded', response_status: 200, error_message: null })
    expect(await hooks.endpointRow(endpoint)).toMatchObject({ failing_since: null, last_success_at: expect.anything() })
  })

  it('PLAT-39 has the form that its endpoint had when it was made, and a cursor from which auditFeed goes on', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space })
    await sql('UPDATE platform.webhooks SET api_version = $2 WHERE id = $1', [endpoint.uuid, '2025-12-31'])
    await hooks.fact(space)
    const [request] = await endpoint.receiver.until(1)
    const { room } = await hooks.fact(space)
    const { api_version, cursor } = jsonOf(request!)
    expect(api_version).toBe('2025-12-31')
    const feed = 'query ($after: String!) { auditFeed(after: $after, first: 20) { items { event { targetId type } } } }'
    await vi.waitFor(async () => {
      const { auditFeed } = await hooks.world.owner.run(feed, { after: cursor })
      const events = auditFeed.items.map(({ event }: { event: object }) => event)
      expect(events).toContainEqual({ targetId: room.id, type: 'room.created' })
      expect(events).not.toContainEqual(expect.objectContaining({ targetId: jsonOf(request!).data.room.id }))
    }, PATIENCE)
  })

  it('ROOM-183 an org-wide endpoint never gets what people wrote in a room, a space’s own does', async () => {
    const space = await hooks.space()
    const ofSpace = await hooks.endpoint({ space })
    const ofOrg = await hooks.endpoint({ eventTypes: ['room.*', 'story.*', 'round.*'] })
    const { room } = await hooks.fact(space, 'Zqtitle')
    const { world } = hooks
    const { story } = await world.owner.mutate(
      'storyAdd',
      { roomId: room.id, title: 'Zqstory', ref: 'ZQREF-1' },
      'story { id }',
    )
    await world.owner.mutate('storyEstimate', { id: story.id, estimate: '5' })
    await Promise.all([ofSpace.receiver.until(3), ofOrg.receiver.until(3)])
    const textOf = ({ receiver }: Endpoint) =>
      receiver.received
        .filter((each) => jsonOf(each).data.space?.id === space.id)
        .map(({ body }) => body.toString())
        .join()
    expect(textOf(ofOrg)).toContain(room.id)
    expect(textOf(ofOrg)).toContain(story.id)
    expect(textOf(ofOrg)).not.toMatch(/zqtitle|zqstory|zqref/i)
    for (const text of ['Zqtitle', 'Zqstory', 'ZQREF-1']) expect(textOf(ofSpace)).toContain(text)
    await world.owner.mutate('webhookDelete', { id: ofOrg.id })
  })

  it('PLAT-39 a body once rendered stays as it is, whatever becomes of the rows', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space, receiver: failing() })
    const { room } = await hooks.fact(space, 'Before')
    await endpoint.receiver.until(1)
    await hooks.untilDeliveries(endpoint, ([row]) => row?.locked_by === null)
    await hooks.world.owner.mutate('roomRename', { roomId: room.id, title: 'After' })
    endpoint.receiver.answer = () => ({})
    await hooks.hurry(endpoint)
    const [first, second] = await endpoint.receiver.until(2)
    await hooks.untilDeliveries(endpoint, all('delivered'))
    expect(second!.body.equals(first!.body)).toBe(true)
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect([first, second].map((each) => each!.headers['moothall-attempt'])).toEqual(['1', '2'])
    expect(verifies(endpoint.secret, second!)).toBe(true)
  })

  it('PLAT-37 is signed by both secrets while a rotation is under way, and by the new one afterwards', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space })
    const { owner } = hooks.world
    const rotate = (graceHours: number) =>
      owner.mutate('webhookRotateSecret', { id: endpoint.id, graceHours }, 'secret webhook { secretHint }')
    const second = await rotate(24)
    expect(second.secret).toMatch(/^whsec_/)
    expect(second.webhook.secretHint).toBe(second.secret.slice(-4))
    await hooks.fact(space)
    const [during] = await endpoint.receiver.until(1)
    expect([endpoint.secret, second.secret].map((secret) => verifies(secret, during!))).toEqual([true, true])

    await sql(`UPDATE platform.webhooks SET previous_secret_until = now() WHERE id = $1`, [endpoint.uuid])
    await hooks.fact(space)
    const [, after] = await endpoint.receiver.until(2)
    expect([endpoint.secret, second.secret].map((secret) => verifies(secret, after!))).toEqual([false, true])

    const third = await rotate(0)
    await hooks.fact(space)
    const [, , last] = await endpoint.receiver.until(3)
    expect([second.secret, third.secret].map((secret) => verifies(secret, last!))).toEqual([false, true])
  })

  it('PLAT-36 a secret is stored sealed for its own row and column, and copied elsewhere it does not open', async () => {
    const [one, two] = [await hooks.space(), await hooks.space()]
    const [first, second] = [await hooks.endpoint({ space: one }), await hooks.endpoint({ space: two })]
    const { secret_envelope: envelope } = (await hooks.endpointRow(first)) as { secret_envelope: Buffer }
    expect(envelope.includes(first.secret)).toBe(false)
    expect(envelope.includes(Buffer.from(first.secret.slice(6), 'base64'))).toBe(false)
    await sql('UPDATE platform.webhooks SET secret_envelope = $2 WHERE id = $1', [second.uuid, envelope])
    await hooks.fact(two)
    const [row] = await hooks.untilDeliveries(second, ([each]) => each?.last_error != null)
    expect(row).toMatchObject({ state: 'pending', last_error: 'could not be prepared' })
    expect(second.receiver.received).toEqual([])
    expect(hooks.world.app.log()).not.toContain(first.secret)
    await hooks.world.owner.mutate('webhookDelete', { id: second.id })
  })
})

describe('PLAT-38 what is owed', () => {
  it('PLAT-38 is nothing from before the endpoint existed, nor from a time when it was off', async () => {
    const space = await hooks.space()
    const { owner } = hooks.world
    await hooks.fact(space)
    const endpoint = await hooks.endpoint({ space })
    const recorded = (age: string) =>
      sql(
        `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, space_id, deliverable, created_at)
         VALUES ($1, 'activity', 'room.ended', 'system', $2, true, clock_timestamp() - $3::interval)`,
        [space.orgId, space.uuid, age],
      )
    await recorded('1 hour') // of a transaction that began before the endpoint did
    const turn = (isActive: boolean) => owner.mutate('webhookUpdate', { id: endpoint.id, isActive })
    await turn(false)
    await hooks.fact(space)
    await turn(true)
    await recorded('1 minute')
    const { room } = await hooks.fact(space)
    const [only] = await endpoint.receiver.until(1)
    expect(jsonOf(only!).data.room.id).toBe(room.id)
    expect(await hooks.deliveries(endpoint)).toHaveLength(1)
  })

  it('PLAT-38 is what it asked for, of its own space', async () => {
    const [one, two] = [await hooks.space(), await hooks.space()]
    const endpoint = await hooks.endpoint({ space: one, eventTypes: ['story.*', 'room.ended'] })
    const { room } = await hooks.fact(one)
    const { room: elsewhere } = await hooks.fact(two)
    const { owner } = hooks.world
    for (const each of [elsewhere, room]) {
      await owner.mutate('storyAdd', { roomId: each.id, title: 'Story' })
      await owner.mutate('roomRename', { roomId: each.id, title: 'Other' }) // not deliverable
      await owner.mutate('roomEnd', { roomId: each.id })
    }
    await endpoint.receiver.until(2)
    expect(typesOf(await hooks.deliveries(endpoint))).toEqual(['story.added', 'room.ended'])
  })

  it('PLAT-38 holds for what a guest does', async () => {
    const space = await hooks.space()
    const { world } = hooks
    const { room, host } = await world.pokerRoom({ space, host: world.owner, autoReveal: true })
    const guest = await world.guest(room)
    await world.attend(room, guest)
    const endpoint = await hooks.endpoint({ space })
    expect((await host.vote(room, '3')).__typename).toBe('VoteCastPayload')
    expect((await guest.vote(room, '5')).__typename).toBe('VoteCastPayload')
    const [request] = await endpoint.receiver.until(1)
    expect(jsonOf(request!)).toMatchObject({ type: 'round.revealed', actor: { kind: 'human', id: guest.id } })
    expect(request!.body.toString()).not.toContain('"card"')
  })

  it('PLAT-44 a test goes to the tested endpoint alone, whatever it asked for', async () => {
    const [one, two] = [await hooks.space(), await hooks.space()]
    const tested = await hooks.endpoint({ space: one, eventTypes: ['room.ended'] })
    const other = await hooks.endpoint({ space: two })
    const ofOrg = await hooks.endpoint({ eventTypes: ['*'] })
    const { owner } = hooks.world
    const { delivery } = await owner.mutate('webhookTest', { id: tested.id }, 'delivery { id state }')
    expect(delivery.state).toMatch(/PENDING|DELIVERED/)
    const [request] = await tested.receiver.until(1)
    expect(jsonOf(request!)).toMatchObject({ type: 'webhook.test', data: { webhookId: tested.id } })
    expect(typesOf([...(await hooks.deliveries(other)), ...(await hooks.deliveries(ofOrg))])).not.toContain(
      'webhook.test',
    )
    await owner.mutate('webhookUpdate', { id: tested.id, isActive: false })
    expect(await owner.mutate('webhookTest', { id: tested.id })).toMatchObject({ code: 'CONFLICT' })
    await owner.mutate('webhookDelete', { id: ofOrg.id })
  })

  it('PLAT-41 comes by polling when no notification does', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space })
    const [{ source }] = (await sql(`SELECT pg_get_functiondef('platform.notify_jobs'::regproc) AS source`)) as [
      { source: string },
    ]
    await sql(
      `CREATE OR REPLACE FUNCTION platform.notify_jobs(p_kind text) RETURNS void LANGUAGE sql VOLATILE AS 'SELECT NULL'`,
    )
    try {
      await hooks.fact(space)
      await endpoint.receiver.until(1)
    } finally {
      await sql(source)
    }
  })
})

describe('PLAT-42, 43 how it ends', () => {
  it('PLAT-42 a failure is tried again after five seconds, give or take a fifth, and written down', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space, receiver: failing() })
    await hooks.fact(space)
    const [row] = await hooks.untilDeliveries(endpoint, ([each]) => each?.last_error != null)
    expect(row).toMatchObject({ state: 'pending', attempts: 1, last_error: 'answered 500', locked_by: null })
    expect(row!.wait).toBeGreaterThan(1)
    expect(row!.wait).toBeLessThanOrEqual(6)
    expect(await hooks.attempts(row!)).toMatchObject([{ attempt: 1, status: 'failed', response_status: 500 }])
    expect(await hooks.endpointRow(endpoint)).toMatchObject({
      failing_since: expect.anything(),
      last_failure_at: expect.anything(),
    })
    endpoint.receiver.answer = () => ({})
    await hooks.hurry(endpoint)
    await hooks.untilDeliveries(endpoint, all('delivered'))
    expect(await hooks.endpointRow(endpoint)).toMatchObject({ failing_since: null })
  })

  it.each([
    [503, '120', 120],
    [429, '86400', 3_600],
    [503, 'in ten minutes, as a date', 600],
    [500, '120', 5],
    [503, '0', 5],
    [503, 'soon', 5],
  ] as const)('PLAT-42 honours Retry-After of 429 and 503, up to an hour: %i, %s', async (status, asked, seconds) => {
    const space = await hooks.space()
    const date = () => new Date(Date.now() + 600_000).toUTCString() // from the answer on
    const retryAfter = () => (asked.startsWith('in ') ? date() : asked)
    const receiver = hooks.receivers.open(() => ({ status, headers: { 'retry-after': retryAfter() } }))
    const endpoint = await hooks.endpoint({ space, receiver })
    await hooks.fact(space)
    const [row] = await hooks.untilDeliveries(endpoint, ([each]) => each?.last_error != null)
    expect(row!.wait).toBeLessThanOrEqual(seconds * 1.2)
    expect(row!.wait).toBeGreaterThan(seconds * 0.8 - 20)
    if (seconds >= 120) expect(row!.wait).toBeGreaterThan(seconds - 30)
  })

  it('PLAT-42 the tenth failure is the last', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space, receiver: failing() })
    await hooks.fact(space)
    await hooks.untilDeliveries(endpoint, ([each]) => each?.last_error != null)
    await sql('UPDATE platform.webhook_deliveries SET attempts = 8 WHERE webhook_id = $1', [endpoint.uuid])
    await hooks.hurry(endpoint)
    const [ninth] = await hooks.untilDeliveries(endpoint, ([each]) => each?.attempts === 9 && each.locked_by === null)
    expect(ninth!.state).toBe('pending')
    expect(ninth!.wait).toBeGreaterThan(12 * 3_600 * 0.8 - 60)
    await hooks.hurry(endpoint)
    const [row] = await hooks.untilDeliveries(endpoint, all('dead'))
    expect(row).toMatchObject({ attempts: 10, last_error: 'answered 500' })
  })

  it('PLAT-42 a delivery whose last attempt was lost with its process is given up unsent', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space, receiver: failing() })
    await hooks.fact(space)
    await hooks.untilDeliveries(endpoint, ([each]) => each?.last_error != null)
    await sql('UPDATE platform.webhook_deliveries SET attempts = 10 WHERE webhook_id = $1', [endpoint.uuid])
    await hooks.hurry(endpoint)
    const [row] = await hooks.untilDeliveries(endpoint, all('dead'))
    expect(row).toMatchObject({ last_error: 'no attempt is left' })
    expect(endpoint.receiver.received).toHaveLength(1)
  })

  it('PLAT-42 410 ends the delivery and switches the endpoint off', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space, receiver: hooks.receivers.open(() => ({ status: 410 })) })
    await hooks.fact(space)
    await hooks.untilDeliveries(endpoint, all('dead'))
    expect(await hooks.endpointRow(endpoint)).toMatchObject({ is_active: false, disabled_reason: 'gone' })
    expect(await hooks.world.facts({ space })).toContain('webhook.disabled')
  })

  it('PLAT-43 an endpoint that fails for five days is switched off, once, and others are told', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space, receiver: failing() })
    const watcher = await hooks.endpoint({ eventTypes: ['webhook.*'] })
    await hooks.fact(space)
    await hooks.fact(space)
    await hooks.untilDeliveries(endpoint, (rows) => rows.length === 2 && rows.every((row) => row.last_error !== null))
    expect(await hooks.endpointRow(endpoint)).toMatchObject({ is_active: true })
    await sql(`UPDATE platform.webhooks SET failing_since = now() - interval '121 hours' WHERE id = $1`, [
      endpoint.uuid,
    ])
    await hooks.hurry(endpoint)
    const [told] = await watcher.receiver.until(1)
    expect(jsonOf(told!)).toMatchObject({
      type: 'webhook.disabled',
      actor: { kind: 'system', id: null },
      data: { webhookId: endpoint.id, reason: 'failing' },
    })
    expect(await hooks.endpointRow(endpoint)).toMatchObject({ is_active: false, disabled_reason: 'failing' })
    const facts = await hooks.world.facts({ space })
    expect(facts.filter((type) => type === 'webhook.disabled')).toHaveLength(1)
    await hooks.world.owner.mutate('webhookDelete', { id: watcher.id })
  })

  it('PLAT-43 what an endpoint that is off is owed waits; on again, what is older than three days is given up', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space, receiver: failing() })
    const { owner } = hooks.world
    await hooks.fact(space)
    await hooks.fact(space)
    const [old] = await hooks.untilDeliveries(
      endpoint,
      (rows) => rows.length === 2 && rows.every((row) => row.last_error !== null && row.locked_by === null),
    )
    await owner.mutate('webhookUpdate', { id: endpoint.id, isActive: false })
    await sql(`UPDATE platform.webhook_deliveries SET created_at = now() - interval '73 hours' WHERE id = $1`, [
      old!.id,
    ])
    endpoint.receiver.answer = () => ({})
    const sent = endpoint.receiver.received.length
    await hooks.hurry(endpoint)
    // Another endpoint's delivery, made later, has come through: this one's would have too.
    const other = await hooks.endpoint({ space: await hooks.space() })
    await owner.mutate('webhookTest', { id: other.id })
    await other.receiver.until(1)
    expect(endpoint.receiver.received).toHaveLength(sent)

    await owner.mutate('webhookUpdate', { id: endpoint.id, isActive: true })
    const rows = await hooks.untilDeliveries(endpoint, (all) => all.every(({ state }) => state !== 'pending'))
    expect(rows.map(({ state }) => state).toSorted()).toEqual(['dead', 'delivered'])
    expect(rows.find(({ id }) => id === old!.id)!.state).toBe('dead')
    expect(await hooks.endpointRow(endpoint)).toMatchObject({
      is_active: true,
      disabled_reason: null,
      failing_since: null,
    })
  })

  it('PLAT-43 of an answer the beginning is kept, secrets taken out, as text', async () => {
    const space = await hooks.space()
    const token = `mhs_${'Zq9'.repeat(14)}x`
    const body = Buffer.concat([
      Buffer.from(`{"password":"zqhunter2","say":"Bearer ${token}"}\0`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('é'.repeat(5_000)),
    ])
    const endpoint = await hooks.endpoint({ space, receiver: hooks.receivers.open(() => ({ status: 200, body })) })
    await hooks.fact(space)
    const [row] = await hooks.untilDeliveries(endpoint, all('delivered'))
    const [attempt] = (await hooks.attempts(row!)) as [{ response_body: string }]
    expect(Buffer.byteLength(attempt.response_body)).toBeLessThanOrEqual(4_096)
    expect(attempt.response_body).not.toMatch(/zqhunter2|Zq9Zq9|\0/)
    expect(attempt.response_body).toContain('�')
    expect(attempt.response_body).toContain('<redacted>')
  })

  it('PLAT-42 a redirect is not followed but a failure', async () => {
    const space = await hooks.space()
    const target = hooks.receivers.open()
    const receiver = hooks.receivers.open(() => ({ status: 307, headers: { location: target.url } }))
    const endpoint = await hooks.endpoint({ space, receiver })
    await hooks.fact(space)
    const [row] = await hooks.untilDeliveries(endpoint, ([each]) => each?.last_error != null)
    expect(row).toMatchObject({ state: 'pending', last_error: 'answered 307' })
    expect(target.received).toEqual([])
  })

  it('PLAT-47 an address that is refused leaves no text of a receiver behind', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space })
    await sql(`UPDATE platform.webhooks SET url = 'http://[::ffff:127.0.0.1]:' || $2 || '/r0' WHERE id = $1`, [
      endpoint.uuid,
      String(hooks.receivers.port),
    ])
    await hooks.fact(space)
    const [row] = await hooks.untilDeliveries(endpoint, ([each]) => each?.last_error != null)
    expect(row!.last_error).toBe('address not allowed')
    expect(await hooks.attempts(row!)).toMatchObject([
      { status: 'failed', response_status: null, response_body: null, error_message: 'address not allowed' },
    ])
  })

  it('PLAT-42 the late answer of a lease that was taken over changes nothing', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space })
    await hooks.fact(space)
    const [row] = await hooks.untilDeliveries(endpoint, all('delivered'))
    // Off, so that no worker of the server takes it; leased to one of ours.
    await sql(`UPDATE platform.webhooks SET is_active = false, disabled_reason = 'manual' WHERE id = $1`, [
      endpoint.uuid,
    ])
    await sql(
      `UPDATE platform.webhook_deliveries SET state = 'pending', delivered_at = NULL, attempts = 2, locked_by = 'one',
         locked_until = now() + interval '2 minutes' WHERE id = $1`,
      [row!.id],
    )
    const before = await hooks.endpointRow(endpoint)
    const { event_id } = (await sql('SELECT event_id FROM platform.webhook_deliveries WHERE id = $1', [row!.id]))[0]!
    const claimed = {
      id: row!.id,
      orgId: space.orgId,
      webhookId: endpoint.uuid,
      eventId: event_id as string,
      attempts: 2,
    }
    for (const thief of [
      { locked_by: 'two', attempts: 2 },
      { locked_by: 'one', attempts: 3 },
    ]) {
      await sql(`UPDATE platform.webhook_deliveries SET attempts = 2, locked_by = 'one' WHERE id = $1`, [row!.id])
      const held = gate()
      const count = endpoint.receiver.received.length
      endpoint.receiver.answer = () => held.promise.then(() => ({}))
      const late = deliver(claimed, 'one', new AbortController().signal)
      await endpoint.receiver.until(count + 1)
      await sql('UPDATE platform.webhook_deliveries SET locked_by = $2, attempts = $3 WHERE id = $1', [
        row!.id,
        thief.locked_by,
        thief.attempts,
      ])
      held.resolve()
      await late
      expect(await hooks.deliveries(endpoint)).toMatchObject([{ state: 'pending', ...thief }])
      expect(await hooks.attempts(row!)).toHaveLength(1)
      expect(await hooks.endpointRow(endpoint)).toEqual(before)
    }
    // And one that has lost its lease before it begins sends nothing.
    const count = endpoint.receiver.received.length
    await deliver(claimed, 'two', new AbortController().signal)
    expect(endpoint.receiver.received).toHaveLength(count)
  })

  it('PLAT-74 a server that ends gives its lease back: nobody’s failure, due at once', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space })
    await hooks.fact(space)
    const [row] = await hooks.untilDeliveries(endpoint, all('delivered'))
    await sql(`UPDATE platform.webhooks SET is_active = false, disabled_reason = 'manual' WHERE id = $1`, [
      endpoint.uuid,
    ])
    await sql(
      `UPDATE platform.webhook_deliveries SET state = 'pending', delivered_at = NULL, attempts = 2, locked_by = 'one',
         locked_until = now() + interval '2 minutes' WHERE id = $1`,
      [row!.id],
    )
    const { event_id } = (await sql('SELECT event_id FROM platform.webhook_deliveries WHERE id = $1', [row!.id]))[0]!
    const claimed = {
      id: row!.id,
      orgId: space.orgId,
      webhookId: endpoint.uuid,
      eventId: event_id as string,
      attempts: 2,
    }
    const ending = new AbortController()
    endpoint.receiver.answer = () => new Promise(() => {})
    const cut = deliver(claimed, 'one', ending.signal)
    await endpoint.receiver.until(2)
    ending.abort()
    await cut
    const [after] = await hooks.deliveries(endpoint)
    expect(after).toMatchObject({ state: 'pending', locked_by: null, attempts: 2, attempts_before: 1 })
    expect(after!.wait).toBeLessThanOrEqual(0)
    expect(await hooks.endpointRow(endpoint)).toMatchObject({ failing_since: null })
  })
})

describe('PLAT-44, 45 afterwards', () => {
  it('PLAT-45 another address holds from the next attempt', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space, receiver: failing() })
    await hooks.fact(space)
    await hooks.untilDeliveries(endpoint, ([each]) => each?.last_error != null)
    const moved = hooks.receivers.open()
    await hooks.world.owner.mutate('webhookUpdate', { id: endpoint.id, url: moved.url })
    await hooks.hurry(endpoint)
    const [again] = await moved.until(1)
    const [first] = endpoint.receiver.received
    expect(endpoint.receiver.received).toHaveLength(1)
    expect(again!.body.equals(first!.body)).toBe(true)
    expect(again!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  })

  it('PLAT-45 what a deleted room left is dropped, but for the event that reports it', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space, receiver: failing() })
    const [{ room }, { room: kept }] = [await hooks.fact(space), await hooks.fact(space)]
    await hooks.untilDeliveries(endpoint, (rows) => rows.length === 2 && rows.every((row) => row.locked_by === null))
    await hooks.world.owner.mutate('roomDelete', { id: room.id })
    endpoint.receiver.answer = () => ({})
    await hooks.hurry(endpoint)
    const rows = await hooks.untilDeliveries(endpoint, all('delivered', 2))
    expect(typesOf(rows)).toEqual(['room.created', 'room.deleted'])
    const { room_id } = (await sql('SELECT room_id FROM platform.webhook_deliveries WHERE id = $1', [rows[0]!.id]))[0]!
    expect(room_id).toBe(uuidOf(kept.id))
  })

  it('PLAT-44 sends once more what has ended, under the same id, with the same bytes and ten more attempts', async () => {
    const space = await hooks.space()
    const endpoint = await hooks.endpoint({ space })
    const { owner } = hooks.world
    await hooks.fact(space)
    const [row] = await hooks.untilDeliveries(endpoint, all('delivered'))
    endpoint.receiver.answer = () => ({ status: 500 })
    const id = encodeId('WebhookDelivery', row!.id)
    const redelivered = await owner.mutate('webhookDeliveryRedeliver', { id }, 'delivery { state deliveredAt }')
    expect(redelivered).toMatchObject({ delivery: { state: 'PENDING', deliveredAt: null } })
    const [first, second] = await endpoint.receiver.until(2)
    expect(second!.body.equals(first!.body)).toBe(true)
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect(second!.headers['moothall-attempt']).toBe('2')
    const [pending] = await hooks.untilDeliveries(endpoint, ([each]) => each?.last_error != null)
    expect(pending).toMatchObject({ attempts: 2, attempts_before: 1 })
    expect(pending!.wait).toBeLessThanOrEqual(6) // the first pause again
    expect(await owner.mutate('webhookDeliveryRedeliver', { id })).toMatchObject({ code: 'CONFLICT' })
    await sql('UPDATE platform.webhook_deliveries SET attempts = 10 WHERE id = $1', [row!.id])
    await hooks.hurry(endpoint)
    await hooks.untilDeliveries(endpoint, all('dead'))
    expect(await owner.mutate('webhookDeliveryRedeliver', { id })).toMatchObject({
      __typename: expect.stringMatching(/Payload$/),
    })
  })
})
