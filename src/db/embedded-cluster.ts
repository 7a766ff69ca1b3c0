import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import {
  type Account,
  canEnter,
  databaseAccount,
  LASTING_PLACES,
  makeEnterable,
  makePrivate,
  shelter,
} from './embedded-account.ts'
import type { Binaries } from './embedded-binaries.ts'
import { EmbeddedError } from './embedded-error.ts'
import { type Keepsake, makeKeepsake, readKeepsake } from './embedded-passwords.ts'
import { bareEnvironment } from './embedded-process.ts'

const MAJOR_VERSION = '18'
const run = promisify(execFile)

export type Cluster = { dataDir: string; dir: string; account: Account | undefined; keepsake: Keepsake }

/** Decides where the cluster lives and under whom, and reads or makes its passwords. */
export async function openDataDir(requested: string, shelters = LASTING_PLACES): Promise<Cluster> {
  // Twice, because the owner of a cluster that is already there decides who runs it.
  const known = await readKeepsake(requested)
  const account = await databaseAccount([known?.cluster ?? join(requested, 'postgres')])
  const dataDir = await makeEnterable(requested, account).catch((cause) => {
    throw new EmbeddedError('foreign_directory', { cause })
  })
  const inside = join(dataDir, 'postgres')
  const keepsake = known ?? (await firstKeepsake(dataDir, inside, account, shelters))
  return { dataDir, dir: keepsake.cluster ?? inside, account, keepsake }
}

async function firstKeepsake(
  dataDir: string,
  inside: string,
  account: Account | undefined,
  shelters: string[],
): Promise<Keepsake> {
  if (await exists(inside)) {
    // Passwords come before the cluster, so another process that was faster has left them by now.
    const keepsake = await readKeepsake(dataDir)
    if (!keepsake) throw new EmbeddedError('passwords_lost')
    return keepsake
  }
  if (await canEnter(dataDir, account)) return makeKeepsake(dataDir)
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  return makeKeepsake(dataDir, join(await shelter(shelters, account), name))
}

/** Creates the cluster unless it is there: complete under its name or not at all, so several processes may try at once. */
export async function ensureCluster({ dir, account, keepsake }: Cluster, binaries: Binaries, log: Log): Promise<void> {
  if (await exists(dir)) {
    const version = await readFile(join(dir, 'PG_VERSION'), 'utf8').catch((cause) => {
      throw new EmbeddedError('foreign_directory', { cause })
    })
    if (version.trim() !== MAJOR_VERSION) throw new EmbeddedError('other_version')
    return
  }
  const draft = join(dirname(dir), `creating-${randomBytes(6).toString('hex')}`)
  const passwordFile = `${draft}.password`
  try {
    await makePrivate(draft, account)
    await writeFile(passwordFile, `${keepsake.superuserPassword}\n`, { mode: 0o600, flag: 'wx' })
    if (account) await chown(passwordFile, account.uid, account.gid)
    await initdb(binaries.initdb, draft, passwordFile, account, log)
    await rename(draft, dir)
  } catch (error) {
    if (!(await exists(dir))) throw error
  } finally {
    await rm(passwordFile, { force: true })
    await rm(draft, { recursive: true, force: true })
  }
}

async function initdb(program: string, dir: string, passwordFile: string, account: Account | undefined, log: Log) {
  // C.UTF-8, whatever the system's locale is: under C, pg_trgm takes no letter beyond ASCII for one (WORK-107).
  const shape = ['--encoding=UTF8', '--locale=C.UTF-8', '--auth=scram-sha-256', '--username=postgres']
  try {
    await run(program, [`--pgdata=${dir}`, ...shape, `--pwfile=${passwordFile}`, '--no-instructions'], {
      ...account,
      cwd: '/',
      env: bareEnvironment(),
    })
  } catch (cause) {
    log(`initdb failed: ${(cause as { stderr?: string }).stderr?.trim() || (cause as Error).message}`)
    throw new EmbeddedError('initdb_failed', { cause })
  }
}

export type Log = (message: string) => void

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}
