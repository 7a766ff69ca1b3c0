import { randomBytes } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EmbeddedError } from './embedded-error.ts'

/** What a data directory remembers about its database. `cluster` is set only where it lies elsewhere. */
export type Keepsake = {
  superuserPassword: string
  ownerPassword: string
  appPassword: string
  port?: number
  cluster?: string
}

const FILE = 'database.json'

export async function readKeepsake(dataDir: string): Promise<Keepsake | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, FILE), 'utf8')) as Keepsake
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new EmbeddedError(code === 'EACCES' ? 'foreign_directory' : 'passwords_lost', { cause: error })
  }
}

/** Makes the passwords once: of several processes that try, one wins and all use what it wrote. */
export async function makeKeepsake(dataDir: string, cluster?: string): Promise<Keepsake> {
  const keepsake: Keepsake = {
    superuserPassword: newPassword(),
    ownerPassword: newPassword(),
    appPassword: newPassword(),
    ...(cluster && { cluster }),
  }
  const draft = await writeDraft(dataDir, keepsake)
  try {
    await link(draft, join(dataDir, FILE))
    return keepsake
  } catch (error) {
    const winner = await readKeepsake(dataDir)
    if (!winner) throw error
    return winner
  } finally {
    await rm(draft, { force: true })
  }
}

export async function rememberPort(dataDir: string, keepsake: Keepsake, port: number): Promise<void> {
  if (keepsake.port === port) return
  await rename(await writeDraft(dataDir, { ...keepsake, port }), join(dataDir, FILE))
}

async function writeDraft(dataDir: string, keepsake: Keepsake): Promise<string> {
  const draft = join(dataDir, `${FILE}.${randomBytes(6).toString('hex')}`)
  await writeFile(draft, `${JSON.stringify(keepsake, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return draft
}

function newPassword(): string {
  return randomBytes(24).toString('base64url')
}
