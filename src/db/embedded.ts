import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { findBinaries } from './embedded-binaries.ts'
import { type Cluster, ensureCluster, type Log, openDataDir } from './embedded-cluster.ts'
import { EmbeddedError } from './embedded-error.ts'
import { rememberPort } from './embedded-passwords.ts'
import { freePort, identify, isPortFree, launch, readPidFile, shutDown } from './embedded-process.ts'
import { APP_ROLE, ensureDatabase, ensureRoles, OWNER_ROLE } from './roles.ts'

export type EmbeddedOptions = {
  /** Holds the cluster, its passwords and the server's log. */
  dataDir: string
  /** Default: the one used before, else any free one. */
  port?: number
  /** Default: replica. Logical decoding needs logical. */
  walLevel?: 'replica' | 'logical'
  /** More server settings; they count only when the server is started, not when a running one is adopted. */
  settings?: Record<string, string>
  log?: Log
}

export type EmbeddedServer = {
  readonly port: number
  /** It ran already, left by a killed process or shared with a living one. */
  readonly adopted: boolean
  readonly processId: number
  superuserUrl(database: string): string
  ownerUrl(database: string): string
  appUrl(database: string): string
  ensureDatabase(database: string): Promise<void>
  /** A fast shutdown, unless another process still uses the server: then the last one ends it. */
  stop(): Promise<void>
}

const START_MS = 120_000
const LAUNCHES = 5
/** Every process that uses the server holds this advisory lock shared; who gets it exclusively may stop the server. */
const IN_USE = "hashtextextended('moothall embedded', 0)"

/** Runs PostgreSQL 18 on the data directory and makes the two roles (PLAT-57); adopts a server that already runs there. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const log = options.log ?? (() => {})
  const cluster = await openDataDir(options.dataDir)
  const binaries = await findBinaries(cluster)
  await ensureCluster(cluster, binaries, log)

  let stopping: Promise<void> | undefined
  const { postmaster, session, launched } = await bringUp(cluster, binaries.postgres, options, log)
  try {
    await rememberPort(cluster.dataDir, cluster.keepsake, postmaster.port)
    await ensureRoles(session, cluster.keepsake)
  } catch (error) {
    await session.end().catch(() => {})
    throw error
  }
  session.on('error', (error) => stopping ?? log(`the embedded database closed its session: ${error.message}`))
  keepsAlive(session, false)

  const { superuserPassword, ownerPassword, appPassword } = cluster.keepsake
  const url = (role: string, password: string, database: string) =>
    `postgres://${role}:${password}@127.0.0.1:${postmaster.port}/${encodeURIComponent(database)}`
  const superuserUrl = (database: string) => url('postgres', superuserPassword, database)
  return {
    port: postmaster.port,
    adopted: !launched,
    processId: postmaster.pid,
    superuserUrl,
    ownerUrl: (database) => url(OWNER_ROLE, ownerPassword, database),
    appUrl: (database) => url(APP_ROLE, appPassword, database),
    ensureDatabase: (database) => ensureDatabase(superuserUrl, database),
    stop: () => (stopping ??= stop(postmaster.pid, cluster.dir, session)),
  }
}

/** Until a session stands: connect to the server that runs, wait for one that starts or stops, or launch one. */
async function bringUp(cluster: Cluster, program: string, options: EmbeddedOptions, log: Log) {
  const deadline = Date.now() + START_MS
  let child: ChildProcess | undefined
  let launches = 0
  while (Date.now() < deadline) {
    const recorded = await readPidFile(cluster.dir)
    const identity = recorded ? await identify(recorded.pid, cluster.dir) : 'gone'
    if (recorded && (identity === 'ours' || identity === 'unknown')) {
      const session = recorded.port > 0 ? await attach(cluster, recorded.port) : undefined
      if (session) return { postmaster: recorded, session, launched: child?.pid === recorded.pid }
    } else if (!child || child.exitCode !== null || child.signalCode !== null) {
      if (++launches > LAUNCHES) break
      child = await launch({
        program,
        cluster: cluster.dir,
        port: await choosePort(options.port, cluster.keepsake.port),
        settings: serverSettings(options),
        logFile: join(cluster.dataDir, 'postgres.log'),
        account: cluster.account,
        stalePid: identity === 'stranger' ? recorded?.pid : undefined,
      })
      child.once('error', (error) => log(`the database program did not run: ${error.message}`))
    }
    await delay(30)
  }
  log(await lastLines(join(cluster.dataDir, 'postgres.log')))
  throw new EmbeddedError('start_failed')
}

function serverSettings({ walLevel, settings }: EmbeddedOptions): Record<string, string> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    wal_level: walLevel ?? 'replica',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Failed statements are the application's to report; here they would write people's words into a file.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    ...settings,
  }
}

async function choosePort(asked: number | undefined, remembered: number | undefined): Promise<number> {
  if (asked !== undefined) {
    if (!(await isPortFree(asked))) throw new EmbeddedError('port_taken')
    return asked
  }
  return remembered !== undefined && (await isPortFree(remembered)) ? remembered : freePort()
}

/** A session that marks the server as in use; nothing while the server starts or is being stopped. */
async function attach({ dir, keepsake }: Cluster, port: number): Promise<pg.Client | undefined> {
  const session = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    database: 'postgres',
    password: keepsake.superuserPassword,
    application_name: 'moothall embedded',
    connectionTimeoutMillis: 5_000,
  })
  const ignore = () => {}
  session.on('error', ignore)
  try {
    await session.connect()
    const { rows } = await session.query<{ dir: string; held: boolean }>(
      `SELECT current_setting('data_directory') AS dir, pg_try_advisory_lock_shared(${IN_USE}) AS held`,
    )
    if (rows[0]?.dir === dir && rows[0].held) return session
  } catch (error) {
    if ((error as { code?: string }).code === '28P01') throw new EmbeddedError('passwords_lost')
  }
  await session.end().catch(ignore)
  return undefined
}

async function stop(pid: number, dir: string, session: pg.Client): Promise<void> {
  keepsAlive(session, true)
  const last = await session
    .query<{ last: boolean }>(`SELECT pg_advisory_unlock_shared(${IN_USE}), pg_try_advisory_lock(${IN_USE}) AS last`)
    .then(
      ({ rows }) => rows[0]?.last === true,
      // The session is gone, so the server crashed or is stopping: see that it ends.
      () => true,
    )
  if (last) await shutDown(pid, dir)
  await session.end().catch(() => {})
}

/** Whether the session alone holds the process open. (The type definitions lack both methods.) */
function keepsAlive(session: pg.Client, held: boolean): void {
  const socket = session as pg.Client & { ref(): void; unref(): void }
  if (held) socket.ref()
  else socket.unref()
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return `the database server's last words:\n${text.trimEnd().split('\n').slice(-15).join('\n')}`
}
