import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import pg from 'pg'
import { v7 } from 'uuid'
import { createDatabase } from '../support/database.ts'

export type Settings = { org?: string; user?: string; room?: string }
export type Query = <R extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<pg.QueryResult<R>>

/** A database with orgs and people in it, made as the app makes them. */
export class IdentityWorld {
  readonly app: pg.Pool
  readonly owner: pg.Pool
  readonly superuserUrl: string
  readonly #drop: () => Promise<void>
  readonly #ended: Promise<unknown>[] = []

  private constructor(database: Awaited<ReturnType<typeof createDatabase>>) {
    this.app = new pg.Pool({ connectionString: database.appUrl, max: 8 })
    this.owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 })
    this.superuserUrl = database.superuserUrl
    this.#drop = () => database.drop()
    for (const pool of [this.app, this.owner]) pool.on('connect', (client) => this.#ended.push(once(client, 'end')))
  }

  static async open(): Promise<IdentityWorld> {
    return new IdentityWorld(await createDatabase())
  }

  async close(): Promise<void> {
    await Promise.all([this.app.end(), this.owner.end()])
    // A pool has ended before its connections have: dropping the database would break off the last of them.
    await Promise.all(this.#ended)
    await this.#drop()
  }

  /** One committed transaction of the app's, under these settings. */
  as<T>({ org = '', user = '', room = '' }: Settings, work: (query: Query) => Promise<T>): Promise<T> {
    return inTransaction(this.app, async (query) => {
      await query(
        `SELECT set_config('moothall.org_id', $1, true), set_config('moothall.user_id', $2, true),
           set_config('moothall.room_id', $3, true)`,
        [org, user, room],
      )
      return work(query)
    })
  }

  /** One committed transaction of the owner's, whom row security does not hold. */
  asOwner<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return inTransaction(this.owner, work)
  }

  async org(): Promise<string> {
    const id = v7()
    const slug = `o-${randomBytes(8).toString('hex')}`
    await this.as({ org: id }, (query) =>
      query(`INSERT INTO identity.orgs (id, slug, name, api_version) VALUES ($1, $2, 'Org', '2026-11-30')`, [id, slug]),
    )
    return id
  }

  /** A registered person, active and joined. */
  async member(org: string, role = 'member'): Promise<string> {
    const user = v7()
    const name = `p${randomBytes(8).toString('hex')}`
    await this.as({ org, user }, async (query) => {
      await query(
        `INSERT INTO identity.users (id, type, account, display_name, email, status)
         VALUES ($1, 'human', 'registered', $2, $3, 'invited')`,
        [user, name, `${name}@example.com`],
      )
      await this.join(query, org, user, role)
      await query(`UPDATE identity.users SET status = 'active' WHERE id = $1`, [user])
    })
    return user
  }

  async join(
    query: Query,
    org: string,
    user: string,
    role = 'member',
    username = `p${randomBytes(8).toString('hex')}`,
  ) {
    await query(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, $3, $4, now())`,
      [org, user, role, username],
    )
  }

  /** Somebody at home in the org. */
  async resident(org: string, account: 'anonymous' | 'guest' | 'agent'): Promise<string> {
    const user = v7()
    await this.as({ org }, (query) =>
      query(
        `INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
         VALUES ($1, $2, $3, $4, 'Somebody', 'active')`,
        [user, account === 'agent' ? 'agent' : 'human', account, org],
      ),
    )
    return user
  }

  async session(org: string, user: string): Promise<string> {
    const id = v7()
    await this.as({ org, user }, (query) =>
      query(
        `INSERT INTO identity.sessions (id, org_id, user_id, token_hash, method) VALUES ($1, $2, $3, $4, 'password')`,
        [id, org, user, randomBytes(32)],
      ),
    )
    return id
  }
}

/** The SQLSTATE that a statement is refused with, or `done`. */
export async function outcome(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt
    return 'done'
  } catch (error) {
    return (error as pg.DatabaseError).code ?? String(error)
  }
}

async function inTransaction<T>(pool: pg.Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work((text, values) => client.query(text, values))
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}
