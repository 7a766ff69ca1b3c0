import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { migrate, migrationStatus } from '../../src/db/migrate.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'

const CHILD = join(import.meta.dirname, '../support/migrate-child.ts')

let database: TestDatabase
let owner: pg.Client
let folder: string

beforeEach(async () => {
  database = await createEmptyDatabase()
  owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
})

afterEach(async () => {
  await owner.end()
  await database.drop()
  await rm(folder, { recursive: true })
})

it('PLAT-55 applies files in the order of their bytes and records the sha256 of each', async () => {
  await write('0002_second', 'CREATE TABLE work.b (a int REFERENCES work.a)')
  await write(
    '0001_first',
    'CREATE SCHEMA work; CREATE TABLE work.a (id int PRIMARY KEY); INSERT INTO work.a VALUES (1)',
  )
  await write('0001_first_b', 'SELECT 1')

  expect(await migrate(place())).toEqual({ applied: ['0001_first', '0001_first_b', '0002_second'] })

  const bytes = await readFile(join(folder, '0001_first', 'migration.sql'))
  const { rows } = await owner.query(
    `SELECT migration_name, checksum, finished_at >= started_at AS finished, applied_steps_count AS steps
       FROM platform._prisma_migrations ORDER BY migration_name LIMIT 1`,
  )
  expect(rows).toEqual([
    {
      migration_name: '0001_first',
      checksum: createHash('sha256').update(bytes).digest('hex'),
      finished: true,
      steps: 1,
    },
  ])
  expect(await migrate(place())).toEqual({ applied: [] })
})

it('PLAT-55 leaves neither the objects nor the record of a file that fails, and says where it failed', async () => {
  await write('0001_first', 'CREATE SCHEMA work')
  await write(
    '0002_broken',
    'CREATE TABLE work.half (id int);\nINSERT INTO work.half VALUES (1);\nINSERT INTO work.nowhere VALUES (1);',
  )

  await expect(migrate(place())).rejects.toMatchObject({
    name: 'MigrationError',
    fault: 'failed',
    migration: '0002_broken',
    message: '0002_broken failed at line 3: relation "work.nowhere" does not exist (42P01)',
  })

  expect(await recorded()).toEqual(['0001_first'])
  expect(await exists('work.half')).toBe(false)

  await write('0002_broken', 'CREATE TABLE work.whole (id int)')
  expect(await migrate(place())).toEqual({ applied: ['0002_broken'] })
})

it('PLAT-55 refuses a file that ends its own transaction', async () => {
  await write('0001_sly', 'CREATE SCHEMA work; COMMIT; BEGIN')
  await expect(migrate(place())).rejects.toMatchObject({ fault: 'left_its_transaction', migration: '0001_sly' })
  expect(await recorded()).toEqual([])
})

it('PLAT-55 lets no file change the session of the next', async () => {
  await write('0001_dump', "SELECT set_config('search_path', 'nowhere', false); SET statement_timeout = '20ms'")
  await write(
    '0002_next',
    "CREATE SCHEMA work; CREATE TABLE work.seen AS SELECT current_setting('search_path') AS path; SELECT pg_sleep(0.1)",
  )
  await migrate(place())
  expect((await owner.query('SELECT path FROM work.seen')).rows).toEqual([{ path: '"$user", public' }])
})

it('PLAT-55 applies each file once when eight processes start at once on an empty database', async () => {
  const names = ['0001_a', '0002_b', '0003_c', '0004_d']
  await write('0001_a', 'CREATE SCHEMA work; CREATE TABLE work.runs (name text)')
  for (const name of names.slice(1))
    await write(name, `INSERT INTO work.runs VALUES ('${name}'); SELECT pg_sleep(0.02)`)

  const starters = await Promise.all(Array.from({ length: 8 }, () => spawnMigrator()))
  const outcomes = await Promise.all(starters.map((go) => go()))

  expect(outcomes.flatMap(({ applied }) => applied).sort()).toEqual(names)
  expect(await recorded()).toEqual(names)
  expect((await owner.query('SELECT name FROM work.runs ORDER BY name')).rows.map((row) => row.name)).toEqual(
    names.slice(1),
  )
})

it('PLAT-56 refuses a schema from the future, naming the migration it does not know', async () => {
  await write('0001_first', 'SELECT 1')
  await write('0002_newer', 'SELECT 1')
  await migrate(place())
  await rm(join(folder, '0002_newer'), { recursive: true })
  await refuses('from_the_future', '0002_newer')
})

it('PLAT-56 refuses a file that was edited after it was applied, down to one byte', async () => {
  await write('0001_first', 'SELECT 1')
  await migrate(place())
  await write('0001_first', 'SELECT 1\n')
  await refuses('edited', '0001_first')
})

it('PLAT-56 refuses a file that sorts before an applied one, and runs none of those after it', async () => {
  await write('0001_first', 'SELECT 1')
  await write('0003_third', 'SELECT 1')
  await migrate(place())
  await write('0002_inserted', 'CREATE SCHEMA work')
  await write('0004_fourth', 'CREATE SCHEMA rooms')
  await refuses('out_of_order', '0002_inserted')
  expect(await recorded()).toEqual(['0001_first', '0003_third'])
})

it('PLAT-56 refuses a record that another tool left unfinished', async () => {
  await write('0001_first', 'SELECT 1')
  await migrate(place())
  await owner.query('UPDATE platform._prisma_migrations SET finished_at = NULL')
  await refuses('unfinished', '0001_first')
})

it('PLAT-56 refuses a folder that is no migration, and overlooks an empty one', async () => {
  await write('0001_first', 'SELECT 1')
  await mkdir(join(folder, '0002_empty'))
  expect(await migrate(place())).toEqual({ applied: ['0001_first'] })
  await write('2_short', 'SELECT 1')
  await refuses('unreadable', '2_short')
})

it('PLAT-56 tells what is pending and changes nothing', async () => {
  await write('0001_first', 'SELECT 1')
  expect(await migrationStatus(place())).toEqual({ applied: [], pending: ['0001_first'] })
  expect(await exists('platform._prisma_migrations')).toBe(false)
  await migrate(place())
  await write('0002_second', 'SELECT 1')
  expect(await migrationStatus(place())).toEqual({ applied: ['0001_first'], pending: ['0002_second'] })
})

it('PLAT-57 runs as the owner alone', async () => {
  await write('0001_first', 'CREATE SCHEMA work')
  await expect(migrate({ url: database.superuserUrl, folder })).rejects.toMatchObject({ fault: 'wrong_role' })
  await expect(migrate({ url: database.appUrl, folder })).rejects.toMatchObject({ fault: 'wrong_role' })
  expect(await exists('platform._prisma_migrations')).toBe(false)
})

it('PLAT-57 lets the application read what is applied and no more', async () => {
  await write('0001_first', 'SELECT 1')
  await migrate(place())
  const app = new pg.Client({ connectionString: database.appUrl })
  await app.connect()
  try {
    expect((await app.query('SELECT migration_name FROM platform._prisma_migrations')).rowCount).toBe(1)
    for (const change of [
      "UPDATE platform._prisma_migrations SET checksum = ''",
      'DELETE FROM platform._prisma_migrations',
    ]) {
      await expect(app.query(change)).rejects.toMatchObject({ code: '42501' })
    }
  } finally {
    await app.end()
  }
})

/** Another process, ready to migrate; the function it gives sets it off and answers what came of it. */
async function spawnMigrator(): Promise<() => Promise<{ applied: string[] }>> {
  const child = spawn(process.execPath, [CHILD, database.ownerUrl, folder], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return async () => {
    child.stdin.end()
    return JSON.parse((await lines.next()).value ?? '')
  }
}

function place() {
  return { url: database.ownerUrl, folder }
}

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, name, 'migration.sql'), sql)
}

async function refuses(fault: string, migration: string): Promise<void> {
  const refusal = { name: 'MigrationError', fault, migration, message: expect.stringContaining(migration) }
  await expect(migrate(place())).rejects.toMatchObject(refusal)
  await expect(migrationStatus(place())).rejects.toMatchObject(refusal)
}

async function recorded(): Promise<string[]> {
  const { rows } = await owner.query(
    'SELECT migration_name AS name FROM platform._prisma_migrations ORDER BY started_at',
  )
  return rows.map((row: { name: string }) => row.name)
}

async function exists(table: string): Promise<boolean> {
  const { rows } = await owner.query('SELECT to_regclass($1) IS NOT NULL AS present', [table])
  return rows[0].present
}
