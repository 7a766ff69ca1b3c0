import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { vi } from 'vitest'
import { decodeId, encodeId } from '../../src/graphql/ids.ts'
import { newSessionToken } from '../../src/identity/session/token.ts'
import { newId } from '../../src/lib/type-id.ts'
import { Actor, Asker, type HeldKey, type TestRoom } from './actor.ts'
import { newTestKey } from './api-key.ts'
import type { App } from './app.ts'

export type TestSpace = { id: string; uuid: string; slug: string; orgId: string }
type Row = Record<string, unknown>
type Role = 'owner' | 'admin' | 'member' | 'viewer'

export type Membership = {
  /** Which space they are a member of; null: none. Default: the world's own. */
  space?: TestSpace | null
  spaceRole?: 'owner' | 'member'
  spectator?: boolean
}

export type AgentSetup = Membership & {
  name?: string
  mode?: 'read' | 'write'
  scopes?: readonly string[]
  projectScope?: 'all' | 'listed'
  /** Default: the world's. */
  orgId?: string
}

const AGENT_SCOPES = ['gate:act', 'gate:read', 'work:read', 'work:write', 'rooms:read', 'rooms:write']

export type PokerSetup = {
  space?: TestSpace
  voters?: number
  host?: Actor
  cards?: readonly string[]
  ordinal?: boolean
  autoReveal?: boolean
  openVoting?: boolean
  /** How many stories; the first one lies on the table. 0: the table is empty. */
  stories?: number
}

export const FIBONACCI = ['0', '1', '2', '3', '5', '8', '13', '21', '?', '☕'] as const

/** An org with people in it and a space of theirs, made by SQL: fast, and independent of what is under test. */
export async function createWorld(app: App): Promise<World> {
  const pool = new pg.Pool({ connectionString: app.database.ownerUrl, max: 4 })
  pool.on('error', () => {}) // the database is dropped under it
  const org = await insertOrg(pool)
  const world = new World(app, pool, org)
  await world.open()
  return world
}

type TestOrg = { id: string; slug: string }

async function insertOrg(pool: pg.Pool): Promise<TestOrg> {
  const org = { id: newId(), slug: `o-${randomBytes(8).toString('hex')}` }
  await pool.query(
    `INSERT INTO identity.orgs (id, slug, name, api_version, allow_anonymous) VALUES ($1, $2, 'Org', '2026-01-01', true)`,
    [org.id, org.slug],
  )
  return org
}

export class World {
  readonly app: App
  readonly org: TestOrg
  /** Owner of the org and of the space. */
  owner!: Actor
  /** The space that people are members of unless a test says otherwise. */
  home!: TestSpace
  readonly #pool: pg.Pool

  constructor(app: App, pool: pg.Pool, org: TestOrg) {
    this.app = app
    this.#pool = pool
    this.org = org
  }

  async open(): Promise<void> {
    this.owner = await this.#registered('owner')
    this.home = await this.space({ owner: this.owner })
  }

  /** Ends the world's connections and the app. */
  async close(): Promise<void> {
    await this.#pool.end()
    await this.app.close()
  }

  /** One statement as the owner of the tables, whom row security does not hold. */
  async sql<R extends Row = Row>(text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.#pool.query<R>(text, values)).rows
  }

  /** A registered person of the org, member of the space. */
  async member({ role = 'member', ...membership }: Membership & { role?: Role } = {}): Promise<Actor> {
    return this.join(await this.#registered(role), membership)
  }

  viewer(membership: Membership = {}): Promise<Actor> {
    return this.member({ ...membership, role: 'viewer' })
  }

  async anonymous(membership: Membership = {}): Promise<Actor> {
    const userId = await this.user('anonymous', this.org.id)
    return this.join(await this.#signIn(this.org.id, userId, { method: 'anonymous' }), membership)
  }

  /** Another session of the same person. */
  signIn({ orgId, userId }: Actor, method: 'password' | 'anonymous' = 'password'): Promise<Actor> {
    return this.#signIn(orgId, userId, { method })
  }

  /** The same person (by default an owner of org and space) through an embedded meeting client. */
  embedded(person: Actor = this.owner): Promise<Actor> {
    return this.#signIn(person.orgId, person.userId, { method: 'embed', embedded: true, expires: '12 hours' })
  }

  /** A member of the org who is in another space only, which comes along. */
  async outsider(): Promise<Actor & { readonly space: TestSpace }> {
    const outsider = await this.#registered('member')
    return Object.assign(outsider, { space: await this.space({ owner: outsider }) })
  }

  /** The owner of another org and of a space in it. */
  async otherOrg(): Promise<Actor & { readonly space: TestSpace }> {
    const org = await insertOrg(this.#pool)
    const owner = await this.#registered('owner', org.id)
    return Object.assign(owner, { space: await this.space({ owner }) })
  }

  /** Somebody let into one room by a link. */
  async guest(room: TestRoom): Promise<Actor & { readonly linkId: string }> {
    const linkId = newId()
    await this.sql(
      `INSERT INTO rooms.room_links (org_id, id, room_id, token_hash, expires_at)
       VALUES ($1, $2, $3, $4, now() + interval '24 hours')`,
      [room.orgId, linkId, room.uuid, randomBytes(32)],
    )
    const userId = await this.user('guest', room.orgId)
    await this.sql('UPDATE identity.users SET link_id = $2 WHERE id = $1', [userId, linkId])
    await this.sql(
      `INSERT INTO rooms.room_guests (org_id, user_id, room_id, link_id, guest_key_hash, expires_at)
       VALUES ($1, $2, $3, $4, $5, now() + interval '24 hours')`,
      [room.orgId, userId, room.uuid, linkId, randomBytes(32)],
    )
    const session = { method: 'guest_link', expires: '24 hours', roomId: room.uuid, linkId }
    return Object.assign(await this.#signIn(room.orgId, userId, session), { linkId })
  }

  /** An agent of the org that writes, with a key of every scope; a member of the space. */
  async agent({
    name,
    mode = 'write',
    scopes = AGENT_SCOPES,
    projectScope = 'all',
    orgId = this.org.id,
    ...membership
  }: AgentSetup = {}): Promise<Actor & HeldKey> {
    const userId = await this.user('agent', orgId)
    await this.sql('INSERT INTO identity.agents (org_id, id, name, mode, project_scope) VALUES ($1, $2, $3, $4, $5)', [
      orgId,
      userId,
      name ?? `a-${randomBytes(8).toString('hex')}`,
      mode,
      projectScope,
    ])
    const held = await this.key({ agentId: userId, scopes, orgId })
    const agent = new Actor({ orgId, userId, sessionId: '' }, this.app.client(held.key))
    return Object.assign(await this.join(agent, membership), held)
  }

  /** An admin key of the org. */
  async adminKey(orgId = this.org.id): Promise<Asker & HeldKey> {
    const held = await this.key({ agentId: null, scopes: ['admin'], orgId })
    return Object.assign(new Asker(orgId, this.app.client(held.key)), held)
  }

  /** One more key, by SQL. */
  async key({
    agentId,
    scopes = AGENT_SCOPES,
    orgId = this.org.id,
    name = `k-${randomBytes(4).toString('hex')}`,
  }: {
    agentId: string | null
    scopes?: readonly string[]
    orgId?: string
    name?: string
  }): Promise<HeldKey> {
    const keyId = newId()
    const { key, prefix, hash } = newTestKey()
    await this.sql(
      `INSERT INTO identity.api_keys (org_id, id, agent_id, name, prefix, secret_hash, pepper_id, scopes)
       VALUES ($1, $2, $3, $4, $5, $6, 1, $7)`,
      [orgId, keyId, agentId, name, prefix, hash, scopes],
    )
    return { keyId, key, prefix }
  }

  /** Makes somebody a member of a space, by default the world's own. */
  async join(
    person: Actor,
    { space = this.home, spaceRole = 'member', spectator = false }: Membership = {},
  ): Promise<Actor> {
    if (space) {
      await this.sql(
        'INSERT INTO rooms.space_members (org_id, space_id, user_id, role, spectator) VALUES ($1, $2, $3, $4, $5)',
        [person.orgId, space.uuid, person.userId, spaceRole, spectator],
      )
    }
    return person
  }

  async space({ owner = this.owner, passcode = '' }: { owner?: Actor; passcode?: string } = {}): Promise<TestSpace> {
    const uuid = newId()
    const slug = `s-${randomBytes(8).toString('hex')}`
    await this.sql('INSERT INTO rooms.spaces (org_id, id, slug, name, passcode) VALUES ($1, $2, $3, $4, $5)', [
      owner.orgId,
      uuid,
      slug,
      `Space ${slug}`,
      passcode,
    ])
    const space = { id: encodeId('Space', uuid), uuid, slug, orgId: owner.orgId }
    await this.join(owner, { space, spaceRole: 'owner' })
    return space
  }

  /** A poker room with a host and voters who are all present, its first story on the table. */
  async pokerRoom(
    setup: PokerSetup = {},
  ): Promise<{ room: TestRoom; host: Actor; voters: Actor[]; stories: string[] }> {
    const { space = this.home, voters: count = 0, cards = FIBONACCI, ordinal = false, stories: storyCount = 1 } = setup
    const { autoReveal = false, openVoting = false } = setup
    const host = setup.host ?? (await this.member({ space }))
    const voters = await Promise.all(Array.from({ length: count }, () => this.member({ space })))
    const uuid = newId()
    const config = { deck: { name: 'Deck', cards, ordinal }, autoReveal, openVoting }
    await this.sql(
      `INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, config, facilitator_id, facilitator_seen_at)
       VALUES ($1, $2, $3, 'poker', 'Planning', 'active', $4, $5, now())`,
      [space.orgId, uuid, space.uuid, config, host.userId],
    )
    const room: TestRoom = {
      id: encodeId('Room', uuid),
      uuid,
      spaceId: space.id,
      orgId: space.orgId,
      round: { storyId: '', roundVersion: '0' },
    }
    for (const person of [host, ...voters]) await this.attend(room, person)
    const stories: string[] = []
    for (let at = 1; at <= storyCount; at++) stories.push(await this.story(room, `Story ${at}`, at * 1024))
    if (stories[0]) room.round = await this.putOnTable(room, stories[0])
    return { room, host, voters, stories }
  }

  /** Makes somebody a participant who is connected. Gives the connection's id. */
  async attend(room: TestRoom, person: Actor, secondsAgo = 0): Promise<string> {
    const connectionId = newId()
    await this.sql(
      'INSERT INTO rooms.room_participants (org_id, room_id, user_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [room.orgId, room.uuid, person.userId],
    )
    await this.sql(
      `INSERT INTO rooms.room_presence (org_id, room_id, connection_id, user_id, last_seen_at)
       VALUES ($1, $2, $3, $4, now() - make_interval(secs => $5))`,
      [room.orgId, room.uuid, connectionId, person.userId, secondsAgo],
    )
    return connectionId
  }

  /** Ends all of somebody's connections to a room. */
  async depart(room: TestRoom, person: Actor): Promise<void> {
    await this.sql('DELETE FROM rooms.room_presence WHERE room_id = $1 AND user_id = $2', [room.uuid, person.userId])
  }

  /** Global id of a new story. */
  async story(room: TestRoom, title = 'Story', position = 1024): Promise<string> {
    const uuid = newId()
    await this.sql('INSERT INTO rooms.stories (org_id, id, room_id, title, position) VALUES ($1, $2, $3, $4, $5)', [
      room.orgId,
      uuid,
      room.uuid,
      title,
      position,
    ])
    return encodeId('Story', uuid)
  }

  /** Opens a round of a story by SQL, without an event. */
  async putOnTable(room: TestRoom, storyId: string): Promise<{ storyId: string; roundVersion: string }> {
    const [row] = await this.sql<{ version: string }>(
      `UPDATE rooms.rooms SET current_story_id = $2 WHERE id = $1 RETURNING poker_round_version::text AS version`,
      [room.uuid, uuidOf(storyId)],
    )
    return { storyId, roundVersion: row!.version }
  }

  /** Names of the audit events about a room or a space, oldest first. */
  async facts(about: { room?: TestRoom; space?: TestSpace }): Promise<string[]> {
    const rows = await this.sql<{ event_type: string }>(
      `SELECT event_type FROM platform.audit_events
       WHERE room_id = $1 OR (room_id IS NULL AND space_id = $2) ORDER BY created_at, id`,
      [about.room?.uuid ?? null, about.space?.uuid ?? null],
    )
    return rows.map(({ event_type }) => event_type)
  }

  /** The stored live events of a room in order of version. */
  async events(room: TestRoom): Promise<{ version: string; type: string; payload: Row }[]> {
    return this.sql(
      'SELECT version::text, type, payload FROM rooms.room_events WHERE room_id = $1 ORDER BY room_events.version',
      [room.uuid],
    )
  }

  /** Runs a statement in a transaction that stays open: whoever needs its locks waits until `release`. */
  async hold(text: string, values: unknown[] = []): Promise<{ release(): Promise<void> }> {
    const client = await this.#pool.connect()
    await client.query('BEGIN')
    await client.query(text, values)
    return {
      release: async () => {
        await client.query('COMMIT')
        client.release()
      },
    }
  }

  /** Until so many statements of the database wait for a lock: by that a test arranges a race. */
  async untilBlocked(count = 1): Promise<void> {
    await vi.waitUntil(
      async () => {
        const waiting = await this.sql(
          `SELECT DISTINCT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
           WHERE a.datname = current_database() AND NOT l.granted`,
        )
        return waiting.length >= count
      },
      { timeout: 5_000, interval: 10 },
    )
  }

  async #registered(role: Role, orgId = this.org.id): Promise<Actor> {
    const userId = await this.user('registered', null)
    await this.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, $3, $4, now())`,
      [orgId, userId, role, `u-${randomBytes(8).toString('hex')}`],
    )
    return this.#signIn(orgId, userId, { method: 'password' })
  }

  async user(account: 'registered' | 'anonymous' | 'guest' | 'agent', homeOrgId: string | null): Promise<string> {
    const id = newId()
    await this.sql(
      `INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
       VALUES ($1, $5, $2, $3, $4, 'active')`,
      [id, account, homeOrgId, `Somebody ${id.slice(-4)}`, account === 'agent' ? 'agent' : 'human'],
    )
    return id
  }

  /** A bearer session, without the password's cost. */
  async #signIn(orgId: string, userId: string, session: NewSession): Promise<Actor> {
    const { method, embedded = false, expires = null, roomId = null, linkId = null } = session
    const sessionId = newId()
    const { token, hash } = newSessionToken()
    await this.sql(
      `INSERT INTO identity.sessions (id, org_id, user_id, token_hash, method, embedded, room_id, link_id, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9::interval)`,
      [sessionId, orgId, userId, hash, method, embedded, roomId, linkId, expires],
    )
    return new Actor({ orgId, userId, sessionId }, this.app.client(token))
  }
}

type NewSession = { method: string; embedded?: boolean; expires?: string; roomId?: string; linkId?: string }

/** The UUID inside a global id. */
export function uuidOf(globalId: string): string {
  const decoded = decodeId(globalId)
  if (!decoded) throw new Error(`${globalId} is no id`)
  return decoded.id
}
