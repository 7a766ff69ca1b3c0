import { randomBytes } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'

/** What a JSON file holds; undefined where there is none. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Puts a JSON file there that only its owner reads, complete or not at all. Of several processes that try at once one
 * wins, and all get what it wrote.
 */
export async function writeJsonOnce<T>(path: string, made: T): Promise<T> {
  const draft = await writeDraft(path, made)
  try {
    await link(draft, path)
    return made
  } catch (error) {
    const winner = await readJson<T>(path)
    if (winner === undefined) throw error
    return winner
  } finally {
    await rm(draft, { force: true })
  }
}

/** Puts another in its place. */
export async function replaceJson(path: string, value: unknown): Promise<void> {
  await rename(await writeDraft(path, value), path)
}

async function writeDraft(path: string, value: unknown): Promise<string> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return draft
}
