import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import pg from 'pg'
import { v7 } from 'uuid'
import { vi } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/database.ts'

/** Whose settings a statement runs under: as the operation layer would set them. */
export type Viewer = { org?: string; user?: string; room?: string }

export type Person = { org: string; user: string }
export type Round = { org: string; room: string; story: string; version: number }
export type Guest = Person & { room: string; link: string }

type Row = Record<string, unknown>
type Account = 'registered' | 'anonymous' | 'guest' | 'agent'

/** A transaction of moothall_app that a test steps through by hand. */
export type Step = {
  query<R extends Row = Row>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>>
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** The SQLSTATE a statement is refused with, or `none` when it is not. */
export async function refusal(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt
    return 'none'
  } catch (error) {
    return (error as pg.DatabaseError).code ?? String(error)
  }
}

/** A database with rooms in it: rows are made by the owner, statements under test run as the app. */
export class RoomsWorld {
  readonly #drop: () => Promise<void>
  readonly #app: pg.Pool
  readonly #owner: pg.Pool
  readonly #appUrl: string
  readonly #ended: Promise<unknown>[] = []

  private constructor({ appUrl, ownerUrl, drop }: TestDatabase) {
    this.#app = new pg.Pool({ connectionString: appUrl, max: 6 })
    this.#owner = new pg.Pool({ connectionString: ownerUrl, max: 2 })
    this.#appUrl = appUrl
    this.#drop = drop
    for (const pool of [this.#app, this.#owner]) {
      pool.on('connect', (client) => this.#ended.push(once(client, 'end')))
    }
  }

  static async open(): Promise<RoomsWorld> {
    return new RoomsWorld(await createDatabase())
  }

  async close(): Promise<void> {
    await Promise.all([this.#app.end(), this.#owner.end()])
    // A pool has ended before its connections have; dropping the database would break them off.
    await Promise.all(this.#ended)
    await this.#drop()
  }

  /** A connection of the app that listens to what is told of rooms. The caller ends it. */
  async listener(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#appUrl })
    await client.connect()
    await client.query('LISTEN moothall_rooms')
    return client
  }

  /** Runs one statement as the app under a viewer's settings and commits. */
  async as<R extends Row = Row>(viewer: Viewer, text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.#run<R>(viewer, text, values)).rows
  }

  /** As `as`, for the number of rows that were read or written. */
  async count(viewer: Viewer, text: string, values: unknown[] = []): Promise<number> {
    return (await this.#run(viewer, text, values)).rowCount ?? 0
  }

  async #run<R extends Row>(viewer: Viewer, text: string, values: unknown[]): Promise<pg.QueryResult<R>> {
    const step = await this.begin(viewer)
    const result = await step.query<R>(text, values).catch(async (error) => {
      await step.rollback()
      throw error
    })
    await step.commit()
    return result
  }

  async begin({ org = '', user = '', room = '' }: Viewer): Promise<Step> {
    const client = await this.#app.connect()
    const end = async (word: string) => {
      await client.query(word).finally(() => client.release())
    }
    await client.query('BEGIN')
    await client.query(
      `SELECT set_config('moothall.org_id', $1, true), set_config('moothall.user_id', $2, true),
              set_config('moothall.room_id', $3, true)`,
      [org, user, room],
    )
    return {
      query: (text, values) => client.query(text, values),
      commit: () => end('COMMIT'),
      rollback: () => end('ROLLBACK'),
    }
  }

  /** Runs one statement as the owner of the tables, whom row security does not hold. */
  async owner<R extends Row = Row>(text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.#owner.query<R>(text, values)).rows
  }

  async org(): Promise<string> {
    const id = v7()
    await this.owner(`INSERT INTO identity.orgs (id, slug, name, api_version) VALUES ($1, $2, 'Org', '2026-01-01')`, [
      id,
      `o-${randomBytes(8).toString('hex')}`,
    ])
    return id
  }

  /** A person of the org: by membership when registered, by home otherwise. */
  async person(
    org: string,
    { account = 'registered', role = 'member' }: { account?: Account; role?: string } = {},
  ): Promise<Person> {
    const user = v7()
    const home = account === 'registered' ? null : org
    await this.owner(
      `INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
       VALUES ($1, $2, $3, $4, 'Somebody', 'active')`,
      [user, account === 'agent' ? 'agent' : 'human', account, home],
    )
    if (account === 'registered') {
      await this.owner(
        `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, $3, $4, now())`,
        [org, user, role, `u-${randomBytes(8).toString('hex')}`],
      )
    }
    return { org, user }
  }

  async space(org: string): Promise<string> {
    const id = v7()
    await this.owner('INSERT INTO rooms.spaces (org_id, id, slug, name) VALUES ($1, $2, $3, $4)', [
      org,
      id,
      `s-${randomBytes(8).toString('hex')}`,
      'Space',
    ])
    return id
  }

  async join(person: Person, space: string, { role = 'member', spectator = false } = {}): Promise<Person> {
    await this.owner(
      'INSERT INTO rooms.space_members (org_id, space_id, user_id, role, spectator) VALUES ($1, $2, $3, $4, $5)',
      [person.org, space, person.user, role, spectator],
    )
    return person
  }

  async member(org: string, space: string, as: { role?: string; spectator?: boolean } = {}): Promise<Person> {
    return this.join(await this.person(org), space, as)
  }

  async room(org: string, space: string): Promise<string> {
    const id = v7()
    await this.owner(
      `INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase) VALUES ($1, $2, $3, 'poker', 'Room', 'active')`,
      [org, id, space],
    )
    return id
  }

  /** What somebody says in a standup, a comment on it and a reaction to it, both their own. */
  async entry(org: string, room: string, user: string): Promise<void> {
    await this.owner(
      `WITH entry AS (
         INSERT INTO rooms.standup_entries (org_id, room_id, user_id, today) VALUES ($1, $2, $3, 'Work') RETURNING *
       ), comment AS (
         INSERT INTO rooms.standup_entry_comments (org_id, room_id, entry_user_id, author_id, text)
         SELECT org_id, room_id, user_id, user_id, 'Good' FROM entry)
       INSERT INTO rooms.standup_entry_reactions (org_id, room_id, entry_user_id, user_id, emoji)
       SELECT org_id, room_id, user_id, user_id, '👍' FROM entry`,
      [org, room, user],
    )
  }

  async story(org: string, room: string): Promise<string> {
    const id = v7()
    await this.owner(
      `INSERT INTO rooms.stories (org_id, id, room_id, title, position) VALUES ($1, $2, $3, 'Story', 1)`,
      [org, id, room],
    )
    return id
  }

  /** Puts a story on the table of its room. */
  async round(org: string, room: string, story?: string): Promise<Round> {
    const id = story ?? (await this.story(org, room))
    const [row] = await this.owner<{ version: string }>(
      `UPDATE rooms.rooms SET current_story_id = $3 WHERE org_id = $1 AND id = $2
       RETURNING poker_round_version AS version`,
      [org, room, id],
    )
    return { org, room, story: id, version: Number(row?.version) }
  }

  /** Casts or replaces a vote as its voter. */
  cast(voter: Person & { room?: string }, round: Round, card: string): Promise<{ card: string }[]> {
    return this.as(
      voter,
      `INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (org_id, story_id, user_id)
       DO UPDATE SET card = excluded.card, round_version = excluded.round_version
       RETURNING card`,
      [round.org, round.room, round.story, voter.user, card, round.version],
    )
  }

  async reveal({ org, room, story }: Round): Promise<void> {
    await this.owner('UPDATE rooms.stories SET revealed_at = now() WHERE org_id = $1 AND id = $2', [org, story])
    await this.owner('UPDATE rooms.rooms SET revealed = true WHERE org_id = $1 AND id = $2', [org, room])
  }

  async link(org: string, room: string, hash: Buffer = randomBytes(32)): Promise<string> {
    const id = v7()
    await this.owner(
      `INSERT INTO rooms.room_links (org_id, id, room_id, token_hash, expires_at)
       VALUES ($1, $2, $3, $4, now() + interval '24 hours')`,
      [org, id, room, hash],
    )
    return id
  }

  /** A guest of a room, who takes part in it. */
  async guest(org: string, room: string, link?: string): Promise<Guest> {
    const by = link ?? (await this.link(org, room))
    const { user } = await this.person(org, { account: 'guest' })
    await this.owner('UPDATE identity.users SET link_id = $2 WHERE id = $1', [user, by])
    await this.owner(
      `INSERT INTO rooms.room_guests (org_id, user_id, room_id, link_id, guest_key_hash, expires_at)
       VALUES ($1, $2, $3, $4, $5, now() + interval '24 hours')`,
      [org, user, room, by, randomBytes(32)],
    )
    await this.participant(org, room, user)
    return { org, user, room, link: by }
  }

  async participant(org: string, room: string, user: string): Promise<void> {
    await this.owner('INSERT INTO rooms.room_participants (org_id, room_id, user_id) VALUES ($1, $2, $3)', [
      org,
      room,
      user,
    ])
  }

  /** A connection of somebody, last heard of some seconds ago. */
  async present(org: string, room: string, user: string, secondsAgo = 0): Promise<void> {
    await this.owner(
      `INSERT INTO rooms.room_presence (org_id, room_id, connection_id, user_id, last_seen_at)
       VALUES ($1, $2, $3, $4, now() - make_interval(secs => $5))`,
      [org, room, randomUUID(), user, secondsAgo],
    )
  }

  /** Until a statement of this database waits for a lock: by that a test arranges a race. */
  async untilBlocked(): Promise<void> {
    await vi.waitUntil(async () => {
      const waiting = await this.owner(
        `SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE a.datname = current_database() AND NOT l.granted`,
      )
      return waiting.length > 0
    }, 5_000)
  }
}
