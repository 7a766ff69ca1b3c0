import { readdir } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { serverEnv } from '../support/app.ts'
import { MIGRATIONS } from '../support/cluster.ts'
import { moothall } from '../support/command.ts'
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { actorAt, type ServerProcess, startProcess } from '../support/server-process.ts'
import { createWorld } from '../support/world.ts'

const databases: TestDatabase[] = []
const kept = async (making: Promise<TestDatabase>) => {
  const database = await making
  databases.push(database)
  return database
}
const ready = (server: ServerProcess) =>
  vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200), { timeout: 20_000 })

afterAll(async () => {
  for (const database of databases) await database.drop()
})

it('PLAT-55, PLAT-57 eight servers start on an empty database at once: one migrates it, all of them serve', async () => {
  const database = await kept(createEmptyDatabase())
  const servers = await Promise.all(
    Array.from({ length: 8 }, () => startProcess(database, { MOOTHALL_DATABASE_POOL: '2' })),
  )
  try {
    await Promise.all(servers.map(ready))
    const owner = new pg.Client({ connectionString: database.ownerUrl })
    await owner.connect()
    const { rows } = await owner.query(
      'SELECT migration_name AS name, finished_at IS NOT NULL AS done FROM platform._prisma_migrations ORDER BY 1',
    )
    const eras = await owner.query('SELECT audit_era AS era FROM platform.instance')
    await owner.end()
    const files = (await readdir(MIGRATIONS)).filter((name) => /^\d{4}_/.test(name)).sort()
    expect(rows).toEqual(files.map((name) => ({ name, done: true })))
    expect(eras.rows).toHaveLength(1)

    const world = await createWorld(servers[0]!)
    const { room, voters } = await world.pokerRoom({ voters: 8 })
    const outcomes = await Promise.all(servers.map((server, at) => actorAt(server, voters[at]!).vote(room, '5')))
    expect(new Set(outcomes.map(({ __typename }) => __typename))).toEqual(new Set(['VoteCastPayload']))
    await world.close()
  } finally {
    await Promise.all(servers.map((server) => server.close()))
  }
}, 240_000)

describe('PLAT-57, PLAT-77 what is said of the database', () => {
  type Case = {
    name: string
    database: 'current' | 'empty'
    /** Laid over DATABASE_URL and DATABASE_MIGRATE_URL of that database. */
    env: (database: TestDatabase, other: TestDatabase) => Record<string, string>
    /** What it refuses with; null: it serves. */
    refused: RegExp | null
  }
  const cases: Case[] = [
    { name: 'both addresses, nothing there', database: 'empty', env: () => ({}), refused: null },
    { name: 'both addresses, all applied', database: 'current', env: () => ({}), refused: null },
    {
      name: 'no owner, all applied',
      database: 'current',
      env: () => ({ DATABASE_MIGRATE_URL: '' }),
      refused: null,
    },
    {
      name: 'no owner, nothing there',
      database: 'empty',
      env: () => ({ DATABASE_MIGRATE_URL: '' }),
      refused: /pending \(0001_ground, .*set DATABASE_MIGRATE_URL/,
    },
    {
      name: 'not allowed to migrate, nothing there',
      database: 'empty',
      env: () => ({ MOOTHALL_AUTO_MIGRATE: 'false' }),
      refused: /pending \(0001_ground, .*run `moothall migrate`/,
    },
    {
      name: 'not allowed to migrate, all applied, an owner who cannot be reached',
      database: 'current',
      env: () => ({ MOOTHALL_AUTO_MIGRATE: 'false', DATABASE_MIGRATE_URL: 'postgres://nobody@127.0.0.1:1/none' }),
      refused: null,
    },
    {
      name: 'an owner who migrates another database',
      database: 'empty',
      env: (_database, other) => ({ DATABASE_MIGRATE_URL: other.ownerUrl }),
      refused: /pending/,
    },
    {
      name: 'the application as the owner',
      database: 'current',
      env: (database) => ({ DATABASE_URL: database.ownerUrl }),
      refused: /would not keep tenants apart/,
    },
    {
      name: 'a listener of its own',
      database: 'current',
      env: (database) => ({ DATABASE_LISTEN_URL: `${database.appUrl}?application_name=apart` }),
      refused: null,
    },
    {
      name: 'a listener on another database',
      database: 'current',
      env: (_database, other) => ({ DATABASE_LISTEN_URL: other.appUrl }),
      refused: /DATABASE_LISTEN_URL leads to another database/,
    },
    {
      name: 'an owner without the application',
      database: 'current',
      env: () => ({ DATABASE_URL: '' }),
      refused: /DATABASE_MIGRATE_URL goes with DATABASE_URL/,
    },
    {
      name: 'a listener without the application',
      database: 'current',
      env: (database) => ({ DATABASE_URL: '', DATABASE_MIGRATE_URL: '', DATABASE_LISTEN_URL: database.appUrl }),
      refused: /DATABASE_LISTEN_URL goes with DATABASE_URL/,
    },
  ]

  it.each(cases)('$name', async ({ database: which, env, refused }) => {
    const database = await kept(which === 'empty' ? createEmptyDatabase() : createDatabase())
    const other = await kept(createDatabase())
    const said = { ...serverEnv(database), ...env(database, other) }
    if (refused) {
      const outcome = await moothall(['start'], said)
      expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(refused) })
      for (const url of [database, other].flatMap(({ appUrl, ownerUrl }) => [appUrl, ownerUrl])) {
        expect(outcome.stderr).not.toContain(new URL(url).password)
      }
      return
    }
    const server = await startProcess(database, env(database, other))
    await ready(server)
    await server.close()
  })
})
