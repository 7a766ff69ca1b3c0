import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import pg from 'pg'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { MIGRATIONS, makeDataDir } from '../support/cluster.ts'
import { type Fixtures, makeFixtures } from './fixtures.ts'
import { type LoadProcess, startLoad } from './load-process.ts'
import type { Options } from './options.ts'
import { startProduct } from './product.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { openStatements, type Statements } from './statements.ts'

/** Everything a case needs: one database, the servers to compare on it, and the process that asks them. */
export type Stage = {
  readonly fixtures: Fixtures
  readonly product: ServerProcess
  readonly plainPg: ServerProcess
  /** Null where its packages are not installed. */
  readonly postgraphile: ServerProcess | null
  readonly bareWs: ServerProcess
  readonly load: LoadProcess
  readonly appUrl: string
  readonly ownerUrl: string
  /** What the database was asked, where the options want to know. */
  readonly statements: Statements | null
  readonly postmaster: number
  readonly postgres: string
  /** One statement as the owner of the tables. */
  ask<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

export const CONNECTIONS = 16
const DATABASE = 'moothall'

/** A cluster of its own with the settings of production: what is acknowledged is on the disk. */
export async function setStage({ profile, statements: counted }: Options): Promise<Stage> {
  const opened = new AsyncDisposableStack()
  try {
    const dataDir = await makeDataDir()
    opened.defer(() => rm(dataDir, { recursive: true, force: true }))
    const cluster = await startEmbedded({
      dataDir,
      ...(counted && { settings: { shared_preload_libraries: 'pg_stat_statements' } }),
    })
    opened.defer(() => cluster.stop())
    await cluster.ensureDatabase(DATABASE)
    const [ownerUrl, appUrl] = [cluster.ownerUrl(DATABASE), cluster.appUrl(DATABASE)]
    await migrate({ url: ownerUrl, folder: MIGRATIONS })
    const fixtures = await makeFixtures(ownerUrl, CONNECTIONS)

    const owner = new pg.Client({ connectionString: ownerUrl })
    await owner.connect()
    opened.defer(() => owner.end())
    const { rows } = await owner.query<{ version: string }>(`SELECT current_setting('server_version') AS version`)

    const statements = counted ? await openStatements(cluster.superuserUrl(DATABASE)) : null
    if (statements) opened.defer(() => statements.close())

    const started = async (starting: Promise<ServerProcess>) => {
      const server = await starting
      opened.defer(() => server.stop())
      return server
    }
    const product = await started(startProduct(appUrl, ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [])))
    const plainPg = await started(startServerProcess([peer('plain-pg')], { DATABASE_URL: appUrl }))
    const postgraphile = hasPeers()
      ? await started(startServerProcess([peer('postgraphile')], production(appUrl)))
      : null
    const bareWs = await started(startServerProcess([peer('bare-ws')], {}))
    const load = startLoad()
    opened.defer(() => load.stop())

    const closing = opened.move()
    return {
      fixtures,
      product,
      plainPg,
      postgraphile,
      bareWs,
      load,
      appUrl,
      ownerUrl,
      statements,
      postmaster: cluster.processId,
      postgres: rows[0]!.version,
      ask: async (text, values) => (await owner.query(text, values)).rows,
      close: () => closing.disposeAsync(),
    }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

/** Peers beside what the product has: `npm install --prefix test/bench`. */
const hasPeers = () => existsSync(`${import.meta.dirname}/node_modules/postgraphile`)
const production = (appUrl: string) => ({ DATABASE_URL: appUrl, NODE_ENV: 'production', GRAPHILE_ENV: 'production' })
const peer = (name: string) => `${import.meta.dirname}/peers/${name}.ts`
