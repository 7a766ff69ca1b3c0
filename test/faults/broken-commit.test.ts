import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { closePool, openPool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { newId } from '../../src/lib/type-id.ts'
import { type TcpProxy, tcpProxy } from '../live/tcp-proxy.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let proxy: TcpProxy
let superuser: pg.Client
const orgId = newId()

beforeAll(async () => {
  database = await createDatabase()
  superuser = new pg.Client({ connectionString: database.superuserUrl })
  await superuser.connect()
  await superuser.query(`
    INSERT INTO identity.orgs (id, slug, name, api_version) VALUES ('${orgId}', 'acme', 'A', '2026-01-01');
    CREATE FUNCTION rooms.commit_slowly() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER commit_slowly AFTER INSERT ON rooms.spaces DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION rooms.commit_slowly()`)
  proxy = await tcpProxy(database.appUrl)
  openPool({ url: proxy.through(database.appUrl), size: 1, wait: 5_000, statementTimeout: 60_000, prepared: true })
})
afterAll(async () => {
  await closePool()
  await proxy.close()
  await superuser.end()
  await database.drop()
})

async function connectionThat(is: string): Promise<number> {
  const find = async () => {
    const { rows } = await superuser.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'moothall' AND ${is}`,
    )
    return rows[0]?.pid as number | undefined
  }
  return (await vi.waitUntil(find, { timeout: 5_000 })) as number
}

it('PLAT-7 outlives a connection of which the end comes together with the answer to COMMIT', async () => {
  const add = () => sql`INSERT INTO rooms.spaces (org_id, slug, name) VALUES (${orgId}, 'a', 'a')`
  const written = operation('write', { orgId }, add)
  await connectionThat(`state = 'active' AND query = 'COMMIT'`)
  proxy.freeze()
  const pid = await connectionThat(`state = 'idle'`)
  await superuser.query('SELECT pg_terminate_backend($1, 5000)', [pid])
  proxy.thaw()
  await written // and nothing else: an error that nobody hears would end the process
  // Whoever leases next may still meet the connection that is going; the one after gets another.
  const read = () => operation('read', { orgId }, () => sql`SELECT slug FROM rooms.spaces`)
  await vi.waitFor(async () => expect(await read()).toEqual([{ slug: 'a' }]), 10_000)
})
