import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readJson, replaceJson, writeJsonOnce } from '../lib/write-once.ts'
import { EmbeddedError } from './embedded-error.ts'

/** What a data directory remembers about its database. `cluster` is set only where it lies elsewhere. */
export type Keepsake = {
  superuserPassword: string
  ownerPassword: string
  appPassword: string
  port?: number
  cluster?: string
}

const fileIn = (dataDir: string) => join(dataDir, 'database.json')

export async function readKeepsake(dataDir: string): Promise<Keepsake | undefined> {
  try {
    return await readJson<Keepsake>(fileIn(dataDir))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new EmbeddedError(code === 'EACCES' ? 'foreign_directory' : 'passwords_lost', { cause: error })
  }
}

/** Makes the passwords once: of several processes that try, one wins and all use what it wrote. */
export function makeKeepsake(dataDir: string, cluster?: string): Promise<Keepsake> {
  return writeJsonOnce<Keepsake>(fileIn(dataDir), {
    superuserPassword: newPassword(),
    ownerPassword: newPassword(),
    appPassword: newPassword(),
    ...(cluster && { cluster }),
  })
}

export async function rememberPort(dataDir: string, keepsake: Keepsake, port: number): Promise<void> {
  if (keepsake.port !== port) await replaceJson(fileIn(dataDir), { ...keepsake, port })
}

function newPassword(): string {
  return randomBytes(24).toString('base64url')
}
