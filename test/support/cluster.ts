import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { MigrationError, migrate } from '../../src/db/migrate.ts'
import { APP_ROLE, OWNER_ROLE } from '../../src/db/roles.ts'

export const MIGRATIONS = join(import.meta.dirname, '../../prisma/migrations')
export const TEMPLATE = 'moothall_template'

/** Logical, because the witness reads the log; the rest trades safety that a throw-away cluster does not need for speed. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
}

/** How to reach a test cluster; plain values, so that they travel from the global set-up to the test processes. */
export type ClusterAddress = {
  superuser: string
  owner: string
  app: string
  /** Why the template has no schema. Whoever clones it fails with this; tests that need no schema run all the same. */
  templateFault?: string
}

export type RunningCluster = { address: ClusterAddress; server: EmbeddedServer }

/** Starts a cluster with the two roles and a migrated template database. Starting again on the same directory keeps both. */
export async function startCluster(dataDir: string, settings: Record<string, string> = {}): Promise<RunningCluster> {
  const server = await startEmbedded({ dataDir, walLevel: 'logical', settings: { ...SETTINGS, ...settings } })
  const templateFault = await ensureTemplate(server).catch(async (error: unknown) => {
    if (error instanceof MigrationError) return error.message
    await server.stop()
    throw error
  })
  const [superuser, owner, app] = [server.superuserUrl('%'), server.ownerUrl('%'), server.appUrl('%')]
  return { server, address: { superuser, owner, app, ...(templateFault && { templateFault }) } }
}

export function urlFor(address: ClusterAddress, role: 'superuser' | 'owner' | 'app', database: string): string {
  return address[role].replace(/%25$/, encodeURIComponent(database))
}

/** A directory named after this process, so that a later run can clear up after one that was killed. */
export function makeDataDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), `moothall-test-${process.pid}-`))
}

/** Ends servers and removes directories of test processes that are gone. */
export async function clearAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, owner] = /^moothall-test-(\d+)-/.exec(name) ?? []
    if (!owner || isAlive(Number(owner))) continue
    await killServer(join(tmpdir(), name))
    await rm(join(tmpdir(), name), { recursive: true, force: true })
  }
}

/** kill -9 for a database: the postmaster and, as it would, every process it forked. */
export async function killServer(dataDir: string): Promise<void> {
  const cluster = join(dataDir, 'postgres')
  const pid = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0])
  if (!pid || (await workingDir(pid)) !== cluster) return
  process.kill(pid, 'SIGKILL')
  // Its children notice by themselves; until the last is gone, the shared memory refuses a new server.
  while (await hasProcesses(cluster)) await delay(20)
}

async function hasProcesses(cluster: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const dirs = await Promise.all(pids.map((pid) => workingDir(Number(pid))))
  return dirs.includes(cluster)
}

async function workingDir(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/cwd`).catch(() => undefined)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function ensureTemplate(server: EmbeddedServer): Promise<undefined> {
  const client = new pg.Client({ connectionString: server.superuserUrl('postgres') })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [TEMPLATE])
    if (rowCount) return undefined
    await server.ensureDatabase(TEMPLATE)
    if (existsSync(MIGRATIONS)) await migrate({ url: server.ownerUrl(TEMPLATE), folder: MIGRATIONS })
    await client.query(`ALTER DATABASE ${TEMPLATE} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`)
    return undefined
  } finally {
    await client.end()
  }
}

/** Cloning takes everything but the rights on the database itself. */
export async function cloneTemplate(client: pg.Client, name: string): Promise<void> {
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} OWNER ${OWNER_ROLE}`)
  await client.query(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC; GRANT CONNECT ON DATABASE ${name} TO ${APP_ROLE}`)
}
