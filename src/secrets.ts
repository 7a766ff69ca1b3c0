import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { readJson, writeJsonOnce } from './lib/write-once.ts'

type Variable = 'MOOTHALL_KEY_PEPPERS' | 'MOOTHALL_ENCRYPTION_KEYS'

export type Secrets = {
  /** Newest first: new keys use the first, old ones verify with theirs (ID-56). */
  keyPeppers: { id: number; secret: Buffer }[]
  /** The first is current; the others open what they once wrapped (PLAT-72). May be empty where a key service wraps. */
  encryptionKeys: { id: string; secret: Buffer }[]
}

/** A file each: one that must not change while it is in use is never written again, also when a release knows more. */
const FILES: Record<Variable, string> = {
  MOOTHALL_KEY_PEPPERS: 'secrets.json',
  MOOTHALL_ENCRYPTION_KEYS: 'encryption-keys.json',
}

/** The operator's secrets; outside production what is not set is made once in the data directory (PLAT-78). */
export async function readSecrets(config: Config): Promise<Secrets> {
  const peppers = await secretOf(config, 'MOOTHALL_KEY_PEPPERS')
  const byService = config.MOOTHALL_KMS_KEY_ID !== ''
  const keys = byService ? config.MOOTHALL_ENCRYPTION_KEYS : await secretOf(config, 'MOOTHALL_ENCRYPTION_KEYS')
  return {
    keyPeppers: entries(peppers).map(({ id, secret }) => ({ id: Number(id), secret })),
    encryptionKeys: entries(keys),
  }
}

async function secretOf(config: Config, variable: Variable): Promise<string> {
  if (config[variable] !== '') return config[variable]
  if (config.NODE_ENV === 'production') {
    throw new ConfigError(`${variable} must be set in production, for example to 1:$(openssl rand -base64 32).`)
  }
  const { MOOTHALL_DATA_DIR: dataDir } = config
  const path = join(dataDir, FILES[variable])
  const stored = await storedAt(path)
  if (stored) return stored[variable]
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const made = await writeJsonOnce(path, { [variable]: `1:${randomBytes(32).toString('base64')}` })
  return made[variable]!
}

async function storedAt(path: string): Promise<Record<Variable, string> | undefined> {
  try {
    return await readJson(path)
  } catch (error) {
    throw new ConfigError('The secrets in the data directory cannot be read.', { cause: error })
  }
}

function entries(list: string): { id: string; secret: Buffer }[] {
  if (list === '') return []
  return list.split(',').map((entry) => {
    const at = entry.indexOf(':')
    return { id: entry.slice(0, at), secret: Buffer.from(entry.slice(at + 1), 'base64') }
  })
}
