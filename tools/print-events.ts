// Prints docs/events.md from the registered event types; a test fails when the checked-in file is stale.
import { mkdirSync, writeFileSync } from 'node:fs'
import '../src/schema.ts' // every body registers its types
import { printEventTypes } from '../src/platform/audit/print.ts'
import { eventTypes } from '../src/platform/audit/registry.ts'

export const printed = printEventTypes(eventTypes())

if (import.meta.main) {
  mkdirSync(new URL('../docs/', import.meta.url), { recursive: true })
  writeFileSync(new URL('../docs/events.md', import.meta.url), printed)
}
