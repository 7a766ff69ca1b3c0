import { heapOf, INSPECTED } from '../heap.ts'
import type { Measuring } from '../measuring.ts'
import { startProduct } from '../product.ts'
import { cpuOf } from '../server-cpu.ts'
import type { Stage } from '../stage.ts'

const EVENTS = 100_000
const PAGE = 100
const QUERY = `query ($after: String) {
  auditFeed(after: $after, first: ${PAGE}) { cursor caughtUp items { cursor event { id type createdAt payload } } }
}`

type Page = { cursor: string; caughtUp: boolean; items: unknown[] }

/** How fast somebody who was away reads what happened, and whether that costs memory. */
export const feed: Measuring = {
  name: 'feed',
  title: `auditFeed catching up on ${EVENTS} events, ${PAGE} at a time`,
  async run(stage) {
    const product = await startProduct(stage.appUrl, INSPECTED)
    try {
      let page = await read(product.url, stage, undefined)
      while (!page.caughtUp) page = await read(product.url, stage, page.cursor)
      await stage.ask(
        `INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, org_slug, payload)
         SELECT $1, 'audit_only', 'org.updated', 'system', 'benchmark', '{"fields":["name"]}'
         FROM generate_series(1, ${EVENTS})`,
        [stage.fixtures.orgId],
      )
      const [heapBefore, cpuBefore] = [await heapOf(product), await cpuOf(product.pid)]
      const started = performance.now()
      let events = 0
      do {
        page = await read(product.url, stage, page.cursor)
        events += page.items.length
      } while (!page.caughtUp)
      const seconds = (performance.now() - started) / 1_000
      if (events !== EVENTS) throw new Error(`${events} events came instead of ${EVENTS}`)
      const cpu = await cpuOf(product.pid)
      const cpuMs = cpu.userMs + cpu.systemMs - cpuBefore.userMs - cpuBefore.systemMs
      return [
        { what: 'events', value: events / seconds, unit: 'a second' },
        { what: 'an event', value: (1_000 * cpuMs) / events, unit: 'µs CPU of the server' },
        {
          what: 'heap that it left',
          value: ((await heapOf(product)) - heapBefore) / 1_048_576,
          unit: 'MiB',
          atMost: 10,
        },
      ]
    } finally {
      await product.stop()
    }
  },
}

async function read(url: string, { fixtures }: Stage, after: string | undefined): Promise<Page> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${fixtures.apiKey}` },
    body: JSON.stringify({ query: QUERY, variables: { after } }),
  })
  const { data, errors } = (await answer.json()) as { data: { auditFeed: Page }; errors?: unknown[] }
  if (errors) throw new Error(JSON.stringify(errors))
  return data.auditFeed
}
