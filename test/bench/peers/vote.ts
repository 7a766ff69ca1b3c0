import { v7 } from 'uuid'
import { type Scope, write } from './transaction.ts'

// The mutation `voteCast` by hand: the statements that it comes to, sent in the same three trips.

type Asked = { roomId: string; storyId: string; roundVersion: string; card: string }

type Room = {
  space_id: string
  space_slug: string
  kind: string
  config: { deck: { cards: string[] }; autoReveal: boolean }
  version: string
  facilitator_id: string | null
  current_story_id: string | null
  revealed: boolean
  round_version: string
  ended_at: string | null
}
type Membership = { role: string | null; spectator: boolean | null; viewer: boolean | null }

const LOCK = `
  SELECT org_id, id, space_id, kind, title, config, phase, version::text, facilitator_id, facilitator_seen_at,
    current_story_id, revealed, poker_round_version::text AS round_version, timer_started_at::text,
    timer_ends_at::text, timer_on_end, closes_at::text, ended_at::text, first_ended_at::text,
    coalesce((SELECT slug FROM rooms.spaces AS s WHERE s.org_id = rooms.org_id AND s.id = rooms.space_id), '') AS space_slug
  FROM rooms.rooms WHERE org_id = $1 AND id = $2 FOR NO KEY UPDATE`

const MEMBERSHIP = `
  SELECT m.role, m.spectator, m.viewer, p.cofacilitator
  FROM rooms.rooms AS r
  LEFT JOIN rooms.members AS m ON m.org_id = r.org_id AND m.space_id = r.space_id AND m.user_id = $3
  LEFT JOIN rooms.room_participants AS p ON p.org_id = r.org_id AND p.room_id = r.id AND p.user_id = $3
  WHERE r.org_id = $1 AND r.id = $2`

const OWN_CARD = 'SELECT card FROM rooms.votes WHERE org_id = $1 AND story_id = $2 AND user_id = $3'

const VOTE = `
  INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (org_id, story_id, user_id) DO UPDATE SET card = excluded.card, round_version = excluded.round_version`

const VERSION = `
  WITH changed AS (UPDATE rooms.rooms SET version = $3 WHERE org_id = $1 AND id = $2 RETURNING 1)
  INSERT INTO rooms.room_events (org_id, room_id, version, type, actor_id, audience, payload)
  SELECT $1, $2, $3, 'VoteCast', $4, 'all', $5 FROM changed`

const FACT = `
  INSERT INTO platform.audit_events (org_id, id, category, event_type, actor_kind, actor_user_id, target_kind, target_id,
    space_id, room_id, org_slug, space_slug, payload, request_id)
  VALUES ($1, $2, 'audit_only', 'vote.cast', 'human', $3, 'Story', $4, $5, $6,
    coalesce((SELECT slug FROM identity.orgs WHERE id = $1), ''),
    $9, $7, $8)`

export function castVote({ org, user }: Required<Scope>, asked: Asked): Promise<string> {
  const { roomId, storyId, roundVersion, card } = asked
  return write({ org, user }, async (client) => {
    const send = <Row extends object>(name: string, text: string, values: unknown[]) =>
      client.query<Row>({ name, text, values })

    const [rooms, memberships, votes] = await Promise.all([
      send<Room>('lock', LOCK, [org, roomId]),
      send<Membership>('membership', MEMBERSHIP, [org, roomId, user]),
      send<{ card: string }>('own card', OWN_CARD, [org, storyId, user]),
    ])
    const room = rooms.rows[0]
    const membership = memberships.rows[0]
    if (!room || !membership?.role || membership.spectator || membership.viewer) throw new Error('may not')
    if (room.kind !== 'poker' || room.ended_at !== null || room.revealed) throw new Error('no open round')
    if (room.current_story_id !== storyId || room.round_version !== roundVersion) throw new Error('another round')
    if (!room.config.deck.cards.includes(card)) throw new Error('no such card')
    if (room.config.autoReveal || room.facilitator_id === user) throw new Error('not by hand')
    if (votes.rows[0]?.card === card) throw new Error('nothing to change')

    const payload = JSON.stringify({ storyId, roundVersion, userId: user })
    await Promise.all([
      send('vote', VOTE, [org, roomId, storyId, user, card, roundVersion]),
      send('version', VERSION, [org, roomId, BigInt(room.version) + 1n, user, payload]),
      send('fact', FACT, [org, v7(), user, storyId, room.space_id, roomId, payload, v7(), room.space_slug]),
    ])
    return JSON.stringify({ voteCast: { __typename: 'VoteCastPayload', myCard: card } })
  })
}
