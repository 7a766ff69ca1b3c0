// Prints .env.example from the variables that the server reads; the contract test fails when the checked-in file is stale.
import { writeFileSync } from 'node:fs'
import type { z } from 'zod'
import { VARIABLES } from '../src/config.ts'

const HEAD = `# What the server reads from its environment, with its defaults. Copy this file to .env and change what you need:
# \`npm start\` and the command line read it. An unknown MOOTHALL_ name or an unreadable value stops the start.
`

export function printEnv(): string {
  const entries = Object.entries(VARIABLES).map(
    ([name, type]) => `\n# ${type.description}\n#${name}=${defaultOf(type)}\n`,
  )
  return HEAD + entries.join('')
}

/** As it would be written in the environment, before it is read into a number or a list. */
function defaultOf(type: z.ZodType): string {
  const definition = type.def as unknown as { type: string; in?: z.ZodType; defaultValue?: unknown }
  if (definition.type === 'default') return String(definition.defaultValue)
  if (definition.in) return defaultOf(definition.in)
  throw new Error('a variable without a default')
}

if (import.meta.main) writeFileSync(new URL('../.env.example', import.meta.url), printEnv())
