import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'

export type Secrets = {
  /** Newest first: new keys use the first, old ones verify with theirs (ID-56). */
  keyPeppers: { id: number; secret: Buffer }[]
}

type Stored = { MOOTHALL_KEY_PEPPERS: string }

const FILE = 'secrets.json'

/** The operator's secrets; outside production what is not set is made once in the data directory (PLAT-78). */
export async function readSecrets(config: Config): Promise<Secrets> {
  if (config.MOOTHALL_KEY_PEPPERS !== '') return parse({ MOOTHALL_KEY_PEPPERS: config.MOOTHALL_KEY_PEPPERS })
  if (config.NODE_ENV === 'production') {
    throw new ConfigError(
      'MOOTHALL_KEY_PEPPERS must be set in production, for example to 1:$(openssl rand -base64 32).',
    )
  }
  return parse((await stored(config.MOOTHALL_DATA_DIR)) ?? (await make(config.MOOTHALL_DATA_DIR)))
}

function parse({ MOOTHALL_KEY_PEPPERS: peppers }: Stored): Secrets {
  const keyPeppers = peppers.split(',').map((entry) => {
    const at = entry.indexOf(':')
    return { id: Number(entry.slice(0, at)), secret: Buffer.from(entry.slice(at + 1), 'base64') }
  })
  return { keyPeppers }
}

async function stored(dataDir: string): Promise<Stored | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, FILE), 'utf8')) as Stored
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ConfigError('The secrets in the data directory cannot be read.', { cause: error })
  }
}

/** Of several processes that start at once, one wins and all use what it wrote. */
async function make(dataDir: string): Promise<Stored> {
  const made: Stored = { MOOTHALL_KEY_PEPPERS: `1:${randomBytes(32).toString('base64')}` }
  const draft = join(dataDir, `${FILE}.${randomBytes(6).toString('hex')}`)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(draft, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, join(dataDir, FILE))
    return made
  } catch (error) {
    const winner = await stored(dataDir)
    if (!winner) throw error
    return winner
  } finally {
    await rm(draft, { force: true })
  }
}
