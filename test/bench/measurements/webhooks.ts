import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Measuring } from '../measuring.ts'
import { cpuOf } from '../server-cpu.ts'
import type { Stage } from '../stage.ts'

const ENDPOINTS = 4
const EVENTS = 500
const CREATE = `mutation ($input: WebhookCreateInput!) { webhookCreate(input: $input) { __typename ... on Error { message } } }`

/** How fast deliveries leave, to receivers that answer at once. */
export const webhooks: Measuring = {
  name: 'webhooks',
  title: `${EVENTS} events to ${ENDPOINTS} webhooks`,
  async run(stage) {
    let received = 0
    let last = 0
    const receiver = createServer((request, response) => {
      request.resume().once('end', () => {
        received += 1
        last = performance.now()
        response.end()
      })
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const { port } = receiver.address() as AddressInfo
    try {
      for (let at = 0; at < ENDPOINTS; at++) await createWebhook(stage, `http://127.0.0.1:${port}/${at}`)
      const before = await cpuOf(stage.product.pid)
      const started = performance.now()
      await stage.ask(
        `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, org_slug, payload, deliverable)
         SELECT $1, 'audit_only', 'org.updated', 'system', 'benchmark', '{"fields":["name"]}', true
         FROM generate_series(1, ${EVENTS})`,
        [stage.fixtures.orgId],
      )
      const deadline = started + 120_000
      while (received < ENDPOINTS * EVENTS && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      if (received !== ENDPOINTS * EVENTS) throw new Error(`${received} of ${ENDPOINTS * EVENTS} deliveries came`)
      const after = await cpuOf(stage.product.pid)
      const cpuMs = after.userMs + after.systemMs - before.userMs - before.systemMs
      await stage.ask('DELETE FROM platform.webhooks WHERE org_id = $1', [stage.fixtures.orgId])
      return [
        { what: 'deliveries', value: received / ((last - started) / 1_000), unit: 'a second' },
        { what: 'a delivery', value: cpuMs / received, unit: 'ms CPU of the server' },
      ]
    } finally {
      receiver.closeAllConnections()
      receiver.close()
    }
  },
}

async function createWebhook({ product, fixtures }: Stage, url: string): Promise<void> {
  const answer = await fetch(`${product.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${fixtures.apiKey}` },
    body: JSON.stringify({ query: CREATE, variables: { input: { url, eventTypes: ['org.*'] } } }),
  })
  const text = await answer.text()
  if (!text.includes('WebhookCreatePayload')) throw new Error(`no webhook was made: ${text}`)
}
