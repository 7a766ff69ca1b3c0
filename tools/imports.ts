// Which imports break the layering (`.dependency-cruiser.cjs`), as sentences.
import { glob } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { cruise, type ICruiseResult } from 'dependency-cruiser'

const { forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs')

export async function importFaults(root: string): Promise<string[]> {
  const { enhancedResolveOptions, ...rest } = options
  const { output } = await cruise(
    ['src'],
    { ...rest, baseDir: root, validate: true, ruleSet: { forbidden } },
    { ...enhancedResolveOptions },
  )
  const { modules, summary } = output as ICruiseResult
  const seen = new Set(modules.map(({ source }) => source))
  const unseen: string[] = []
  for await (const file of glob('src/**/*.ts', { cwd: root })) {
    if (!file.startsWith('src/generated/') && !seen.has(file)) unseen.push(`${file} was not seen`)
  }
  const broken = summary.violations.map(({ rule, from, to, cycle }) => {
    const path = cycle ? cycle.map(({ name }) => name).join(' → ') : to
    return `${rule.name}: ${from} → ${path}`
  })
  return [...broken, ...unseen]
}
