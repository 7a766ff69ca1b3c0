import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile, readlink, rename, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Account } from './embedded-account.ts'

export type Postmaster = { pid: number; port: number }
type Identity = 'ours' | 'stranger' | 'unknown' | 'gone'

const LOG_KEPT = 1024 * 1024
const FAST_STOP_MS = 60_000

/** What postmaster.pid says, if there is one. It outlives a crash, so the process may be gone or another one. */
export async function readPidFile(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const [pid, port] = [Number(lines[0]), Number(lines[3])]
  return pid > 0 ? { pid, port } : undefined
}

/** A database server works in its data directory, which tells it from a process that got its number later. */
export async function identify(pid: number, cluster: string): Promise<Identity> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'gone'
  }
  const workingDir = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  if (workingDir === undefined) return (await isZombie(pid)) ? 'gone' : 'unknown'
  return workingDir === cluster ? 'ours' : 'stranger'
}

async function isZombie(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return /\) [ZX] /.test(status)
}

type Launch = {
  program: string
  cluster: string
  port: number
  settings: Record<string, string>
  logFile: string
  account: Account | undefined
  stalePid: number | undefined
}

/** Starts the server so that it outlives us: its own session, its output in a file. */
export async function launch({
  program,
  cluster,
  port,
  settings,
  logFile,
  account,
  stalePid,
}: Launch): Promise<ChildProcess> {
  const options = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  if (((await stat(logFile).catch(() => undefined))?.size ?? 0) > LOG_KEPT) await rename(logFile, `${logFile}.1`)
  const output = openSync(logFile, 'a', 0o600)
  try {
    const child = spawn(program, ['-D', cluster, ...options], {
      ...account,
      cwd: '/',
      detached: true,
      stdio: ['ignore', output, output],
      // A number left in postmaster.pid that now belongs to a stranger would look like a running server; PostgreSQL
      // overlooks the one named here, and still checks for survivors by their shared memory.
      env: { ...bareEnvironment(), ...(stalePid && { PG_GRANDPARENT_PID: String(stalePid) }) },
    })
    child.unref()
    return child
  } finally {
    closeSync(output)
  }
}

/** None of our own environment: it may hold secrets, and PG* variables would bend the programs. */
export function bareEnvironment(): Record<string, string> {
  return { TZ: 'UTC', LC_ALL: 'C' }
}

/** A fast shutdown: sessions are ended, everything is written, nothing needs recovery. */
export async function shutDown(pid: number, cluster: string): Promise<void> {
  for (const [signal, patience] of [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', FAST_STOP_MS],
  ] as const) {
    if ((await stillThere(pid, cluster)) === false) return
    process.kill(pid, signal)
    const deadline = Date.now() + patience
    while (Date.now() < deadline) {
      if ((await stillThere(pid, cluster)) === false) return
      await delay(20)
    }
  }
}

async function stillThere(pid: number, cluster: string): Promise<boolean> {
  const identity = await identify(pid, cluster)
  return identity === 'ours' || (identity === 'unknown' && (await readPidFile(cluster))?.pid === pid)
}

export function isPortFree(port: number): Promise<boolean> {
  return listen(port).then(
    () => true,
    () => false,
  )
}

export function freePort(): Promise<number> {
  return listen(0)
}

function listen(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : port))
    })
  })
}
