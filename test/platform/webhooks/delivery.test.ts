import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeId } from '../../../src/graphql/ids.ts'
import type { Received } from '../../support/receiver.ts'
import { all, WebhookWorld } from './webhook-world.ts'

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

describe('PLAT-39, 40 what is sent', () => {
  it('PLAT-39, 40 is the event as its projection has it, signed by the one secret', async () => {
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
    expect(new Webhook(endpoint.secret).verify(request!.body, signed(request!))).toEqual(body)
    const [attempt] = await hooks.attempts(row!)
    expect(attempt).toMatchObject({ attempt: 1, status: 'succeeded', response_status: 200, error_message: null })
    expect(await hooks.endpointRow(endpoint)).toMatchObject({ failing_since: null, last_success_at: expect.anything() })
  })
})
