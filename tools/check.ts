// `npm run check`: types, style and the direction of imports. Tests are not part of it.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { importFaults } from './imports.ts'

const root = join(import.meta.dirname, '..')

function passes(title: string, program: string, args: readonly string[]): boolean {
  const { status } = spawnSync(join(root, 'node_modules/.bin', program), args, { cwd: root, stdio: 'inherit' })
  process.stdout.write(`${status === 0 ? 'ok   ' : 'WRONG'}  ${title}\n`)
  return status === 0
}

async function importsPass(): Promise<boolean> {
  const faults = await importFaults(root)
  for (const fault of faults) process.stdout.write(`  ${fault}\n`)
  process.stdout.write(`${faults.length === 0 ? 'ok   ' : 'WRONG'}  imports\n`)
  return faults.length === 0
}

const results = [
  passes('types', 'tsc', ['--project', '.']),
  passes('style', 'biome', ['check', '.', '--error-on-warnings']),
  await importsPass(),
]
process.exitCode = results.every(Boolean) ? 0 : 1
