import pg from 'pg'
import { newSessionToken } from '../../src/identity/session/token.ts'
import { newId } from '../../src/lib/type-id.ts'
import { newTestKey } from '../support/api-key.ts'

export type Person = { readonly userId: string; readonly displayName: string; readonly token: string }

/** A poker room with one story on its table, nobody connected. */
export type Table = { readonly roomId: string; readonly storyId: string; readonly roundVersion: string }

/** One org with a space of many people; another org like it, so that row security has rows to leave out. */
export type Fixtures = {
  readonly orgId: string
  /** An admin key of the org. */
  readonly apiKey: string
  readonly spaceId: string
  readonly spaceSlug: string
  readonly spaceName: string
  /** Members of the space in the order they joined; the first owns org and space. */
  readonly people: readonly Person[]
  /** One a connection, so that votes do not wait for each other. */
  readonly tables: readonly Table[]
  /** The room that the subscribers watch. */
  readonly watched: Table
}

const PEOPLE = 100
/** Titles of each room's stories in their order; the first is on the table. */
export const STORIES = ['Search by label', 'Undo a merge', 'Faster start', 'Dark colours', 'Export as CSV'] as const
export const CARDS = ['0', '1', '2', '3', '5', '8', '13', '21', '?', '☕'] as const
const CONFIG = { deck: { name: 'Fibonacci', cards: CARDS, ordinal: false }, autoReveal: false, openVoting: false }

/** Made by the owner of the tables with SQL, whom row security does not hold; triggers and constraints do. */
export async function makeFixtures(ownerUrl: string, tables: number): Promise<Fixtures> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    await makeOrg(client, 'neighbours', tables)
    const fixtures = await makeOrg(client, 'benchmark', tables)
    await client.query('VACUUM ANALYZE')
    return fixtures
  } finally {
    await client.end()
  }
}

async function makeOrg(client: pg.Client, slug: string, tables: number): Promise<Fixtures> {
  const orgId = newId()
  await client.query('INSERT INTO identity.orgs (id, slug, name, api_version) VALUES ($1, $2, $3, $4)', [
    orgId,
    slug,
    slug,
    '2026-01-01',
  ])
  const people = await makePeople(client, orgId)
  const { key: apiKey, prefix, hash } = newTestKey()
  await client.query(
    `INSERT INTO identity.api_keys (org_id, id, name, mode, prefix, secret_hash, pepper_id, scopes)
     VALUES ($1, platform.new_id(), 'benchmark', 'live', $2, $3, 1, '{admin}')`,
    [orgId, prefix, hash],
  )
  const space = { spaceId: newId(), spaceSlug: `${slug}-team`, spaceName: 'The team' }
  await client.query('INSERT INTO rooms.spaces (org_id, id, slug, name) VALUES ($1, $2, $3, $4)', [
    orgId,
    space.spaceId,
    space.spaceSlug,
    space.spaceName,
  ])
  await client.query(
    `INSERT INTO rooms.space_members (org_id, space_id, user_id, role, joined_at)
     SELECT $1, $2, user_id, CASE at WHEN 1 THEN 'owner' ELSE 'member' END, now() - interval '1 day' + at * interval '1 s'
     FROM unnest($3::uuid[]) WITH ORDINALITY AS member (user_id, at)`,
    [orgId, space.spaceId, people.map(({ userId }) => userId)],
  )
  const makeTable = () => laidTable(client, orgId, space.spaceId)
  const watched = await makeTable()
  const laid: Table[] = []
  while (laid.length < tables) laid.push(await makeTable())
  return { orgId, apiKey, ...space, people, tables: laid, watched }
}

async function makePeople(client: pg.Client, orgId: string): Promise<Person[]> {
  const people = Array.from({ length: PEOPLE }, (_, at) => {
    const { token, hash } = newSessionToken()
    return { userId: newId(), displayName: `Somebody ${String(at + 1).padStart(3, '0')}`, token, hash }
  })
  const ids = people.map(({ userId }) => userId)
  await client.query(
    `INSERT INTO identity.users (id, type, account, display_name, status)
     SELECT id, 'human', 'registered', name, 'active' FROM unnest($1::uuid[], $2::text[]) AS person (id, name)`,
    [ids, people.map(({ displayName }) => displayName)],
  )
  await client.query(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at)
     SELECT $1, user_id, CASE at WHEN 1 THEN 'owner' ELSE 'member' END, 'u' || at, now()
     FROM unnest($2::uuid[]) WITH ORDINALITY AS member (user_id, at)`,
    [orgId, ids],
  )
  await client.query(
    `INSERT INTO identity.sessions (org_id, user_id, token_hash, method)
     SELECT $1, user_id, hash, 'password' FROM unnest($2::uuid[], $3::bytea[]) AS session (user_id, hash)`,
    [orgId, ids, people.map(({ hash }) => hash)],
  )
  return people.map(({ userId, displayName, token }) => ({ userId, displayName, token }))
}

async function laidTable(client: pg.Client, orgId: string, spaceId: string): Promise<Table> {
  const [roomId, storyId] = [newId(), newId()]
  await client.query(
    `INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, config)
     VALUES ($1, $2, $3, 'poker', 'Planning', 'active', $4)`,
    [orgId, roomId, spaceId, CONFIG],
  )
  await client.query(
    `INSERT INTO rooms.stories (org_id, id, room_id, title, position)
     SELECT $1, CASE at WHEN 1 THEN $2 ELSE platform.new_id() END, $3, title, at * 1024
     FROM unnest($4::text[]) WITH ORDINALITY AS story (title, at)`,
    [orgId, storyId, roomId, STORIES],
  )
  const { rows } = await client.query<{ version: string }>(
    `UPDATE rooms.rooms SET current_story_id = $2 WHERE id = $1 RETURNING poker_round_version::text AS version`,
    [roomId, storyId],
  )
  return { roomId, storyId, roundVersion: rows[0]!.version }
}
