import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { printEventTypes } from '../../src/platform/audit/print.ts'
import { defineEvent } from '../../src/platform/audit/registry.ts'
import { printed } from '../../tools/print-events.ts'

it('PLAT-12 has printed the event types to docs/events.md', async () => {
  const checkedIn = await readFile(new URL('../../docs/events.md', import.meta.url), 'utf8')
  expect(checkedIn, 'run `npm run events`').toBe(printed)
})

it('PLAT-12 prints category, reach and payload of a type', () => {
  const type = defineEvent('lamp.lit', {
    category: 'activity',
    deliverable: true,
    durable: true,
    description: 'Somebody lit the lamp.',
    payload: z.strictObject({
      colour: z.enum(['red', 'green']),
      watts: z.number().int().nullable(),
      rooms: z.array(z.uuid()).optional(),
      parts: z.array(z.strictObject({ id: z.string() })),
    }),
    projection: ({ payload }) => ({ colour: payload.colour }),
  })
  expect(printEventTypes([type])).toContain(`## lamp

### lamp.lit

activity, deliverable, durable, projected

Somebody lit the lamp.

\`\`\`ts
{ colour: "red" | "green", watts: number | null, rooms?: string[], parts: ({ id: string })[] }
\`\`\`
`)
})
