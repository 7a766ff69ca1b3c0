import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { registerSealedColumn, sealedColumns } from '../../src/platform/keyring/sealed-columns.ts'
import '../../src/schema.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

/** Envelopes that go by themselves. */
const LEFT_TO_EXPIRE = ['platform.idempotency_keys.response_envelope']

let database: TestDatabase
let owner: pg.Client
beforeAll(async () => {
  database = await createDatabase()
  owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await database.drop()
})

it('PLAT-72 rewraps every column of envelopes that there is, or knows that it need not', async () => {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT table_schema || '.' || table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE column_name LIKE '%\\_envelope' AND table_schema IN ('identity', 'rooms', 'work', 'gate', 'plugins', 'platform')`,
  )
  const registered = sealedColumns().map(({ table, column }) => `${table}.${column}`)
  expect([...registered, ...LEFT_TO_EXPIRE].sort()).toEqual(rows.map(({ name }) => name).sort())
})

it('PLAT-72 has a place for the key’s id where a table tells it', async () => {
  for (const { table, keyColumn } of sealedColumns()) {
    if (keyColumn) await owner.query(`SELECT id, org_id, ${keyColumn} FROM ${table} LIMIT 0`)
  }
})

it('PLAT-72 takes no column that the start would not find, and no name that is more than one', () => {
  const column = { table: 'platform.webhooks', column: 'secret_envelope' }
  for (const wrong of [
    { ...column, column: 'secret' },
    { ...column, table: 'webhooks' },
    { ...column, table: 'platform.webhooks; DROP TABLE x' },
    { ...column, keyColumn: 'kek id' },
  ]) {
    expect(() => registerSealedColumn(wrong)).toThrow(TypeError)
  }
})
