import { newId } from '../../src/lib/type-id.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { type TestSpace, uuidOf, type World } from '../support/world.ts'
import { UNSEEN } from './plant-unseen.ts'
import type { Planted } from './planted.ts'

export async function plantPerson(world: World, planted: Planted, name: string, person: Actor): Promise<void> {
  const isAgent = person.sessionId === ''
  const isRegistered = !['anonymous', 'drifter', 'guest'].includes(name) && !isAgent
  if (name !== 'meeting') {
    planted.id(`user:${name}`, 'User', person.userId)
    await world.sql(
      `UPDATE identity.users SET display_name = $2, avatar_icon = $3,
         email = $4 WHERE id = $1`,
      [
        person.userId,
        planted.mark(`user:${name}`, 'User.displayName'),
        planted.mark(`user:${name}`, 'User.avatarIcon'),
        isRegistered ? planted.mark(`mail:${name}`, 'User.email', (mark) => `${mark}@example.org`) : null,
      ],
    )
  }
  if (isRegistered) {
    await world.sql('UPDATE identity.users SET issuer = $2, subject = $3, password_hash = $4 WHERE id = $1', [
      person.userId,
      planted.mark(UNSEEN, 'User.issuer'),
      planted.mark(UNSEEN, 'User.subject'),
      planted.mark(UNSEEN, 'User.passwordHash'),
    ])
    await world.sql('UPDATE identity.memberships SET username = $2 WHERE user_id = $1', [
      person.userId,
      planted.mark(`name:${name}`, 'Member.username'),
    ])
  }
  if (isAgent) return // it has no session
  planted.id(`session:${name}`, 'Session', person.sessionId)
  await world.sql('UPDATE identity.sessions SET ip = $2, user_agent = $3 WHERE id = $1', [
    person.sessionId,
    planted.mark(`origin:${name}`, 'Session.ip', (mark) => `2001:db8::9${mark.slice(-3)}`),
    planted.mark(`origin:${name}`, 'Session.userAgent'),
  ])
}

export async function plantOrg(world: World, planted: Planted, realm: string, orgId: string): Promise<void> {
  planted.id(realm, 'Org', orgId)
  const slug = planted.mark(realm, 'Org.slug')
  await world.sql(
    `UPDATE identity.orgs SET slug = $2, name = $3, settings = jsonb_build_object('note', $4::text), stop_reason = $5,
       stopped_at = CASE WHEN $5::text IS NOT NULL THEN now() END WHERE id = $1`,
    [
      orgId,
      slug,
      planted.mark(realm, 'Org.name'),
      planted.mark(`state:${realm}`, 'Org.settings'),
      // Ours lets its agents act.
      realm === 'ours' ? null : planted.mark(`state:${realm}`, 'Org.stopReason'),
    ],
  )
  if (realm === 'ours') Object.assign(world.org, { slug })
  const kinds = realm === 'ours' ? 'kinds' : realm
  const kind = planted.mark(kinds, 'RoomKind.kind')
  await world.sql(
    `INSERT INTO rooms.room_kinds (org_id, kind, provider, display, actions) VALUES ($1, $2, 'core', $3, '{}')`,
    [orgId, kind, planted.mark(kinds, 'RoomKind.display')],
  )
}

export async function plantSpace(world: World, planted: Planted, realm: string, space: TestSpace): Promise<void> {
  planted.id(realm, 'Space', space.uuid)
  const slug = planted.mark(realm, 'Space.slug')
  Object.assign(space, { slug })
  await world.sql('UPDATE rooms.spaces SET slug = $2, name = $3, passcode = $4 WHERE id = $1', [
    space.uuid,
    slug,
    planted.mark(realm, 'Space.name'),
    planted.mark(realm, 'Space.passcode'),
  ])
  const deck = newId()
  planted.id(realm, 'Deck', deck)
  await world.sql('INSERT INTO rooms.decks (org_id, id, space_id, name, cards) VALUES ($1, $2, $3, $4, $5)', [
    space.orgId,
    deck,
    space.uuid,
    planted.mark(realm, 'Deck.name'),
    [planted.mark(realm, 'Deck.cards'), planted.mark(realm, 'Deck.cards')],
  ])
  const event = await plantEvent(world, planted, realm, space, { kind: 'Space', id: space.uuid, slug })
  await plantWebhook(world, planted, realm, space, event)
}

/** The space's endpoint, which admins of the org see too, and a delivery of the event, which they do not. */
async function plantWebhook(
  world: World,
  planted: Planted,
  realm: string,
  { orgId, uuid }: { orgId: string; uuid: string },
  event: string,
): Promise<void> {
  const [webhook, delivery] = [newId(), newId()]
  planted.id(`hook:${realm}`, 'Webhook', webhook)
  planted.id(`delivery:${realm}`, 'WebhookDelivery', delivery)
  await world.sql(
    `INSERT INTO platform.webhooks (org_id, id, space_id, url, secret_envelope, secret_hint, kek_id, event_types, api_version)
     VALUES ($1, $2, $3, $4, convert_to($5, 'UTF8'), 'hint', '1', '{room.*}', '2026-01-01')`,
    [
      orgId,
      webhook,
      uuid,
      planted.mark(`hook:${realm}`, 'Webhook.url', (mark) => `https://hooks.example/${mark}`),
      planted.mark(UNSEEN, 'Webhook.secret'),
    ],
  )
  await world.sql(
    `WITH made AS (
       INSERT INTO platform.webhook_deliveries (org_id, id, webhook_id, event_id, state, delivered_at, last_error, body)
       VALUES ($1, $2, $3, $4, 'delivered', now(), $5, convert_to($6, 'UTF8')))
     INSERT INTO platform.webhook_attempts (org_id, delivery_id, attempt, status, started_at, duration_ms, response_status,
       response_body, error_message, worker)
     VALUES ($1, $2, 1, 'succeeded', now(), 1, 200, $7, $8, $9)`,
    [
      orgId,
      delivery,
      webhook,
      event,
      planted.mark(`delivery:${realm}`, 'WebhookDelivery.lastError'),
      planted.mark(UNSEEN, 'WebhookDelivery.body'),
      planted.mark(`delivery:${realm}`, 'WebhookAttempt.responseBody'),
      planted.mark(`delivery:${realm}`, 'WebhookAttempt.errorMessage'),
      planted.mark(UNSEEN, 'WebhookAttempt.worker'),
    ],
  )
}

/** An agent, which the org's readers know of; how it is kept in bounds is its admins' to know. */
export async function plantAgent(world: World, planted: Planted, realm: string, orgId: string): Promise<void> {
  const id = await world.user('agent', orgId)
  planted.id(realm, 'Agent', id)
  planted.id(realm, 'User', id)
  const bounds = `bounds:${realm.replace(/^\w+:/, '')}`
  const key = planted.mark(bounds, 'IntentKey.publicKey', (mark) => `ed25519:${mark.padEnd(43, 'x')}`)
  await world.sql('UPDATE identity.users SET display_name = $2 WHERE id = $1', [
    id,
    planted.mark(realm, 'User.displayName'),
  ])
  await world.sql(
    `INSERT INTO identity.agents (org_id, id, name, labels, budgets, intent_keys) VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      orgId,
      id,
      planted.mark(realm, 'Agent.name'),
      { [planted.mark(realm, 'AgentLabel.name')]: planted.mark(realm, 'AgentLabel.value') },
      JSON.stringify([planted.mark(bounds, 'Agent.budgets')]),
      JSON.stringify([{ kid: 'a'.repeat(32), public_key: key, created_at: '2026-01-01T00:00:00Z', created_by: id }]),
    ],
  )
  await world.sql(
    `UPDATE identity.agents SET status = 'suspended', status_changed_at = now(), status_reason = $2 WHERE id = $1`,
    [id, planted.mark(bounds, 'Agent.statusReason')],
  )
  await world.sql(
    `INSERT INTO identity.intent_nonces (org_id, agent_id, nonce, intent_hash, expires_at)
     VALUES ($1, $2, $3, sha256('x'), now() + interval '1 day')`,
    [orgId, id, planted.mark(UNSEEN, 'IntentNonce.nonce', (mark) => mark.padEnd(22, 'x'))],
  )
}

export async function plantRoom(
  world: World,
  planted: Planted,
  realm: string,
  room: TestRoom,
  voters: Actor[],
): Promise<void> {
  planted.id(realm, 'Room', room.uuid)
  const card = planted.mark(realm, 'Vote.card')
  await world.sql(
    `UPDATE rooms.rooms SET title = $2, version = version + 1,
       config = config || jsonb_build_object('deck', jsonb_build_object('name', $3::text, 'cards', $4::text[], 'ordinal', true))
     WHERE id = $1`,
    [
      room.uuid,
      planted.mark(realm, 'Room.title'),
      planted.mark(realm, 'PokerConfig.deckName'),
      [planted.mark(realm, 'PokerConfig.cards'), card],
    ],
  )
  const stories = await world.sql<{ id: string }>('SELECT id FROM rooms.stories WHERE room_id = $1', [room.uuid])
  for (const { id } of stories) {
    planted.id(realm, 'Story', id)
    await world.sql('UPDATE rooms.stories SET title = $2, notes = $3, ref = $4, estimate = $5 WHERE id = $1', [
      id,
      ...['title', 'notes', 'ref', 'estimate'].map((column) => planted.mark(realm, `Story.${column}`)),
    ])
  }
  await world.sql(
    `INSERT INTO rooms.room_events (org_id, room_id, version, type, audience, payload)
     SELECT org_id, id, version, 'RoomChanged', 'all', jsonb_build_object('title', $2::text) FROM rooms.rooms WHERE id = $1`,
    [room.uuid, planted.mark(UNSEEN, 'RoomEvent.payload')],
  )
  for (const { userId } of voters) {
    await world.sql(
      `INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version) VALUES ($1, $2, $3, $4, $5, $6)`,
      [room.orgId, room.uuid, uuidOf(room.round.storyId), userId, card, room.round.roundVersion],
    )
  }
  await world.sql('UPDATE rooms.stories SET revealed_at = now() WHERE id = $1', [uuidOf(room.round.storyId)])
  await world.sql('UPDATE rooms.rooms SET revealed = true, version = version + 1 WHERE id = $1', [room.uuid])
  const place = { orgId: room.orgId, uuid: uuidOf(room.spaceId) }
  await plantEvent(world, planted, realm, place, { kind: 'Room', id: room.uuid, roomId: room.uuid })
  const storyId = uuidOf(room.round.storyId)
  await plantEvent(world, planted, realm, place, { kind: 'Story', id: storyId, roomId: room.uuid, storyId })
}

type About = { kind: string; id: string; slug?: string; roomId?: string; storyId?: string }

async function plantEvent(
  world: World,
  planted: Planted,
  realm: string,
  { orgId, uuid }: { orgId: string; uuid: string },
  { kind, id, slug = '', roomId, storyId }: About,
): Promise<string> {
  const event = newId()
  planted.id(`log:${realm}`, 'AuditEvent', event)
  await world.sql(
    `INSERT INTO platform.audit_events (org_id, id, category, event_type, actor_kind, target_kind, target_id, space_id,
       room_id, space_slug, payload, reason, org_slug)
     VALUES ($1, $2, 'activity', $3, 'system', $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      ...[orgId, event, storyId ? 'story.added' : 'room.ended', kind, id, uuid, roomId, slug],
      storyId ? { storyId } : {},
      planted.mark(`log:${realm}`, 'AuditEvent.reason'),
      planted.mark(`log:${realm}`, 'AuditEvent.orgSlug'),
    ],
  )
  return event
}
