import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** Names of the source files whose text matches, without what is generated. */
export async function filesWith(pattern: RegExp): Promise<string[]> {
  const found: string[] = []
  for await (const file of glob('src/**/*.{ts,js}', { cwd: ROOT })) {
    if (file.startsWith('src/generated/')) continue
    if (pattern.test(await readFile(join(ROOT, file), 'utf8'))) found.push(file)
  }
  return found.sort()
}
