import pg from 'pg'
import { encodeId } from '../../src/graphql/ids.ts'
import { newSessionToken } from '../../src/identity/session/token.ts'
import { newId } from '../../src/lib/type-id.ts'
import { CARDS } from './fixtures.ts'
import type { Person } from './seat.ts'

/** A team in its room: a story on the table, everybody a participant already. Who comes first leads. */
export type Team = {
  readonly roomId: string
  readonly storyId: string
  readonly roundVersion: string
  readonly people: readonly Person[]
}

export type CrowdSize = { rooms: number; people: number }

const CONFIG = { deck: { name: 'Fibonacci', cards: CARDS, ordinal: false }, autoReveal: false, openVoting: false }

/** Teams of an org, each with people, a space and a room of its own; made with SQL by the owner of the tables. */
export async function makeCrowd(ownerUrl: string, orgId: string, { rooms, people }: CrowdSize): Promise<Team[]> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    const teams: Team[] = []
    while (teams.length < rooms) teams.push(await makeTeam(client, orgId, people))
    await client.query('VACUUM ANALYZE')
    return teams
  } finally {
    await client.end()
  }
}

async function makeTeam(client: pg.Client, orgId: string, size: number): Promise<Team> {
  const [spaceId, roomId, storyId] = [newId(), newId(), newId()]
  const people = Array.from({ length: size }, () => ({ userId: newId(), ...newSessionToken() }))
  const ids = people.map(({ userId }) => userId)
  await client.query(
    `INSERT INTO identity.users (id, type, account, display_name, status)
     SELECT id, 'human', 'registered', 'Somebody ' || at, 'active' FROM unnest($1::uuid[]) WITH ORDINALITY AS p (id, at)`,
    [ids],
  )
  await client.query(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at)
     SELECT $1, id, 'member', 'u-' || replace(id::text, '-', ''), now() FROM unnest($2::uuid[]) AS p (id)`,
    [orgId, ids],
  )
  await client.query(
    `INSERT INTO identity.sessions (org_id, user_id, token_hash, method)
     SELECT $1, id, hash, 'password' FROM unnest($2::uuid[], $3::bytea[]) AS p (id, hash)`,
    [orgId, ids, people.map(({ hash }) => hash)],
  )
  await client.query(`INSERT INTO rooms.spaces (org_id, id, slug, name) VALUES ($1, $2, $3, 'A team')`, [
    orgId,
    spaceId,
    `s-${spaceId}`,
  ])
  await client.query(
    `INSERT INTO rooms.space_members (org_id, space_id, user_id, role)
     SELECT $1, $2, id, CASE at WHEN 1 THEN 'owner' ELSE 'member' END
     FROM unnest($3::uuid[]) WITH ORDINALITY AS p (id, at)`,
    [orgId, spaceId, ids],
  )
  await client.query(
    `INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, config, facilitator_id, facilitator_seen_at)
     VALUES ($1, $2, $3, 'poker', 'Planning', 'active', $4, $5, now())`,
    [orgId, roomId, spaceId, CONFIG, ids[0]],
  )
  await client.query(
    `INSERT INTO rooms.room_participants (org_id, room_id, user_id) SELECT $1, $2, id FROM unnest($3::uuid[]) AS p (id)`,
    [orgId, roomId, ids],
  )
  await client.query(
    `INSERT INTO rooms.stories (org_id, id, room_id, title, position) VALUES ($1, $2, $3, 'Search by label', 1024)`,
    [orgId, storyId, roomId],
  )
  const { rows } = await client.query<{ version: string }>(
    `UPDATE rooms.rooms SET current_story_id = $2 WHERE id = $1 RETURNING poker_round_version::text AS version`,
    [roomId, storyId],
  )
  return {
    roomId: encodeId('Room', roomId),
    storyId: encodeId('Story', storyId),
    roundVersion: rows[0]!.version,
    people: people.map(({ userId, token }) => ({ id: encodeId('User', userId), token })),
  }
}
