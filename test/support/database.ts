import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import pg from 'pg'
import { inject } from 'vitest'
import { ensureDatabase } from '../../src/db/roles.ts'
import { type ClusterAddress, cloneTemplate, killServer, makeDataDir, startCluster, urlFor } from './cluster.ts'

export type TestDatabase = {
  readonly name: string
  readonly appUrl: string
  readonly ownerUrl: string
  readonly superuserUrl: string
  /** Ends what is still connected and removes the database. */
  drop(): Promise<void>
}

/** A migrated database of the file's own, cloned in a moment from the run's template. Drop it in `afterAll`. */
export function createDatabase(): Promise<TestDatabase> {
  return cloneOn(inject('cluster'))
}

/** A database with the roles' rights and nothing in it. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const cluster = inject('cluster')
  const database = describe(cluster, newName())
  await ensureDatabase((name) => urlFor(cluster, 'superuser', name), database.name)
  return database
}

export type OwnCluster = {
  createDatabase(): Promise<TestDatabase>
  /** Starts again after `stop` or `kill`, on the same port, so addresses stay valid. */
  start(): Promise<void>
  stop(): Promise<void>
  /** kill -9: the next `start` recovers from the log. */
  kill(): Promise<void>
  /** Stops and removes everything. */
  remove(): Promise<void>
}

/** A server of the file's own, for long transactions (which hold back every reader of its cluster) and restarts. */
export async function ownCluster(settings: Record<string, string> = {}): Promise<OwnCluster> {
  const dataDir = await makeDataDir()
  let { server, address } = await startCluster(dataDir, settings)
  const stop = () => server.stop()
  return {
    createDatabase: () => cloneOn(address),
    start: async () => {
      ;({ server, address } = await startCluster(dataDir, settings))
    },
    stop,
    kill: () => killServer(dataDir),
    remove: async () => {
      await stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function cloneOn(address: ClusterAddress): Promise<TestDatabase> {
  if (address.templateFault) throw new Error(address.templateFault)
  const database = describe(address, newName())
  await asSuperuser(address, (client) => cloneTemplate(client, database.name))
  return database
}

function describe(address: ClusterAddress, name: string): TestDatabase {
  return {
    name,
    appUrl: urlFor(address, 'app', name),
    ownerUrl: urlFor(address, 'owner', name),
    superuserUrl: urlFor(address, 'superuser', name),
    drop: () =>
      asSuperuser(address, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)).then(() => {}),
  }
}

function newName(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

async function asSuperuser<T>(address: ClusterAddress, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: urlFor(address, 'superuser', 'postgres') })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
