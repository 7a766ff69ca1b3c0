import { chmod, chown, mkdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EmbeddedError } from './embedded-error.ts'

/** The user and group that run the database's processes. */
export type Account = { uid: number; gid: number }

const CANDIDATES = ['moothall', 'postgres', 'nobody']
const PASS_THROUGH = 0o011

/** Nothing for an ordinary user, who runs the database as themselves; an unprivileged account for root, whom PostgreSQL refuses. */
export async function databaseAccount(clusterDirs: string[]): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const dir of clusterDirs) {
    const owner = await stat(dir).catch(() => undefined)
    if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  }
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'))
  for (const name of CANDIDATES) {
    const line = lines.find((fields) => fields[0] === name)
    const account = { uid: Number(line?.[2]), gid: Number(line?.[3]) }
    if (account.uid > 0 && account.gid > 0) return account
  }
  throw new EmbeddedError('no_account')
}

/** Whether every directory on the way to this one, itself included, lets the account through. */
export async function canEnter(dir: string, account: Account | undefined): Promise<boolean> {
  if (!account) return true
  for (let at = await realpath(dir); ; at = dirname(at)) {
    const { uid, gid, mode } = await stat(at)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (at === dirname(at)) return true
  }
}

/** Makes a directory of ours; with an account, what was made (and the directory itself) can be passed through, not listed. */
export async function makeEnterable(dir: string, account: Account | undefined): Promise<string> {
  const first = await mkdir(dir, { recursive: true, mode: account ? 0o755 : 0o700 })
  const made = await realpath(dir)
  if (account) {
    const stop = first ? dirname(await realpath(first)) : dirname(made)
    for (let at = made; at !== stop && at !== dirname(at); at = dirname(at)) {
      await chmod(at, (await stat(at)).mode | PASS_THROUGH)
    }
  }
  return made
}

/** An empty directory that only the account can read. */
export async function makePrivate(dir: string, account: Account | undefined): Promise<void> {
  await mkdir(dir, { mode: 0o700 })
  if (account) await chown(dir, account.uid, account.gid)
}

/**
 * A root-owned place outside the data directory that the account can enter, for what it must reach when the
 * product lies under a closed directory such as root's home.
 */
export async function shelter(places: string[], account: Account | undefined): Promise<string> {
  for (const place of places) {
    try {
      const dir = await makeEnterable(place, account)
      const { uid, mode } = await stat(dir)
      // In a shared temporary directory somebody else may have made it first.
      if (uid === process.getuid?.() && (mode & 0o022) === 0 && (await canEnter(dir, account))) return dir
    } catch {
      // Read-only or missing: the next place may do.
    }
  }
  throw new EmbeddedError('unreachable_directory')
}

export const LASTING_PLACES = [join('/var', 'lib', 'moothall')]
