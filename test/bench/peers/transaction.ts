import pg from 'pg'

/** Whose rows a transaction reaches. */
export type Scope = { org?: string; user?: string }

export type Statement = { name: string; text: string; values: unknown[] }

const SETTINGS = `set_config('TimeZone', 'UTC', true), set_config('statement_timeout', '15000', true),
  set_config('idle_in_transaction_session_timeout', '10000', true), set_config('lock_timeout', '5000', true)`

/** As the product has it: as many connections, and pipelined, so that what follows BEGIN does not wait for its answer. */
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10, pipeline: true } as pg.PoolConfig)

const beginning = (mode: string, { org, user }: Scope) =>
  `BEGIN ISOLATION LEVEL ${mode}; SELECT ${SETTINGS}${setting('org_id', org)}${setting('user_id', user)}`

const setting = (name: string, id: string | undefined) =>
  id === undefined ? '' : `, set_config('moothall.${name}', ${pg.escapeLiteral(id)}, true)`

/** One statement in one transaction, all of it in one trip. */
export async function readOne<Row>(mode: string, scope: Scope, statement: Statement): Promise<Row | undefined> {
  const client = await pool.connect()
  try {
    const [, { rows }] = await Promise.all([
      client.query(beginning(mode, scope)),
      client.query(statement),
      client.query('COMMIT'),
    ])
    return rows[0] as Row | undefined
  } finally {
    client.release()
  }
}

/** Several statements in one read-write transaction. */
export async function write<T>(scope: Scope, body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    client.query(beginning('READ COMMITTED READ WRITE', scope)).catch(() => {}) // what follows fails with it
    const result = await body(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  } finally {
    client.release()
  }
}
