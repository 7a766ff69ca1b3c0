import { expect, vi } from 'vitest'
import type { App } from '../support/app.ts'
import { metricOf } from '../support/metrics.ts'

/** How many streams the server holds, and the sockets that may carry them, as its metrics tell. */
export async function openStreams({ url }: App): Promise<number> {
  const [streams, sockets] = await Promise.all(
    ['streams', 'sockets'].map((kind) => metricOf(url, `moothall_streams{kind="${kind}"}`)),
  )
  return streams! + sockets!
}

export function untilStreams(app: App, count: number): Promise<void> {
  return vi.waitFor(async () => expect(await openStreams(app)).toBe(count), { timeout: 30_000, interval: 20 })
}
