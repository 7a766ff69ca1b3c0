import { randomBytes } from 'node:crypto'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import type { App } from '../support/app.ts'
import type { GraphqlClient } from '../support/client.ts'
import { createWorld, type TestSpace, uuidOf, type World } from '../support/world.ts'
import { Planted } from './planted.ts'

export type Caller = {
  readonly name: string
  readonly client: GraphqlClient
  /** Realms whose content is theirs to see. */
  readonly sees: ReadonlySet<string>
  /** Reads the directory of spaces. */
  readonly registered: boolean
  /** Reads the log of the org, the sessions active in it, and addresses of its people. */
  readonly admin: boolean
  readonly cost: number
}

export type CrawlWorld = { world: World; planted: Planted; callers: Caller[]; otherOrgs: ReadonlySet<string> }

/** What members of the space see; the kinds of rooms are their org's. */
const HOME = ['home', 'home.room', 'home.room2', 'kinds']
const COST = 9_000

/**
 * Three places full of marks: a space with two rooms, another space of the same org, another org. And everybody who may
 * come by, each with what they may see of them.
 */
export async function createCrawlWorld(app: App): Promise<CrawlWorld> {
  const world = await createWorld(app)
  const planted = new Planted()
  const people = new Map<string, Actor>([['owner', world.owner]])
  const named = async <P extends Actor>(name: string, person: Promise<P>): Promise<P> => {
    people.set(name, await person)
    return person
  }
  const admin = await named('admin', world.member({ role: 'admin', space: null }))
  const member = await named('member', world.member())
  const viewer = await named('viewer', world.viewer())
  const anonymous = await named('anonymous', world.anonymous())
  const loner = await named('loner', world.member({ space: null }))
  const drifter = await named('drifter', world.anonymous({ space: null }))
  const former = await named('former', world.member())
  const both = await named('both', world.member())
  const other = await named('other', world.outsider())
  const stranger = await named('stranger', world.otherOrg())

  const rooms: [string, TestRoom][] = []
  for (const [realm, space, count] of [
    ['home.room', world.home, 2],
    ['home.room2', world.home, 1],
    ['other', other.space, 2],
    ['strange', stranger.space, 1],
  ] as const) {
    const host = realm === 'strange' ? stranger : await named(`${realm} host`, world.member({ space }))
    const { room, voters } = await world.pokerRoom({ space, host, voters: 0, stories: count })
    void voters
    rooms.push([realm, room])
  }
  const room2 = rooms[1]![1]
  const guest = await named('guest', world.guest(room2))
  await world.attend(room2, guest)
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'owner', $3, now())`,
    [stranger.orgId, both.userId, `u-${randomBytes(8).toString('hex')}`],
  )
  await world.sql('INSERT INTO rooms.space_members (org_id, space_id, user_id, role) VALUES ($1, $2, $3, $4)', [
    stranger.orgId,
    stranger.space.uuid,
    both.userId,
    'owner',
  ])
  const meeting = await world.embedded()
  people.set('meeting', meeting)

  await world.sql(`UPDATE rooms.room_presence SET last_seen_at = now() + interval '1 day'`) // nobody goes meanwhile
  for (const [name, person] of people) await plantPerson(world, planted, name, person)
  await plantOrg(world, planted, 'ours', world.org.id)
  await plantOrg(world, planted, 'strange', stranger.orgId)
  for (const [realm, space] of [
    ['home', world.home],
    ['other', other.space],
    ['strange', stranger.space],
  ] as const) {
    await plantSpace(world, planted, realm, space)
  }
  for (const [realm, room] of rooms) await plantRoom(world, planted, realm, room, members(realm, people))
  await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [former.userId])

  // An embedded session knows its person, and itself among the sessions.
  const self = (name: string, as = name) => [`user:${name}`, `mail:${name}`, `session:${as}`, `origin:${as}`]
  const everybody = [...people.keys()].filter((name) => name !== 'stranger').map((name) => `user:${name}`)
  const atHome = [
    'owner',
    'member',
    'viewer',
    'anonymous',
    'former',
    'both',
    'home.room host',
    'home.room2 host',
    'guest',
  ]
  const homePeople = atHome.map((name) => `user:${name}`)
  const as = (name: string, person: Actor, sees: string[], flags: Partial<Caller> = {}): Caller => ({
    name,
    client: person.client,
    sees: new Set([...sees, ...self(name === 'meeting' ? 'owner' : name, name)]),
    registered: false,
    admin: false,
    cost: COST,
    ...flags,
  })
  const registered = { registered: true }
  const callers = [
    as('owner', world.owner, ['ours', ...everybody, ...HOME, 'session:meeting', 'origin:meeting'], {
      registered: true,
      admin: true,
    }),
    as('admin', admin, ['ours', ...everybody], { registered: true, admin: true }),
    as('member', member, ['ours', ...everybody, ...HOME], registered),
    as('viewer', viewer, ['ours', ...everybody, ...HOME], registered),
    as('loner', loner, ['ours', ...everybody], registered),
    as('both', both, ['ours', ...everybody, ...HOME], registered),
    as('anonymous', anonymous, ['ours', ...homePeople, ...HOME]),
    as('drifter', drifter, ['ours']),
    as('meeting', meeting, ['ours', ...homePeople, ...HOME]),
    as('guest', guest, ['ours', 'user:home.room2 host', 'home.room2'], { cost: 1_900 }),
    as('former', former, []),
    { ...as('nobody', former, []), client: app.client(), sees: new Set<string>(), cost: 190 },
  ]
  const otherOrgs = new Set(['strange', ...['user', 'mail', 'session', 'origin'].map((kind) => `${kind}:stranger`)])
  return { world, planted, callers, otherOrgs }
}

function members(realm: string, people: ReadonlyMap<string, Actor>): Actor[] {
  const names = {
    'home.room': ['member', 'anonymous'],
    'home.room2': ['home.room2 host', 'guest'],
    other: ['other'],
    strange: ['stranger'],
  }[realm]!
  return names.map((name) => people.get(name)!)
}

async function plantPerson(world: World, planted: Planted, name: string, person: Actor): Promise<void> {
  const isRegistered = !['anonymous', 'drifter', 'guest'].includes(name)
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
  planted.id(`session:${name}`, 'Session', person.sessionId)
  await world.sql('UPDATE identity.sessions SET ip = $2, user_agent = $3 WHERE id = $1', [
    person.sessionId,
    planted.mark(`origin:${name}`, 'Session.ip', (mark) => `2001:db8::9${mark.slice(-3)}`),
    planted.mark(`origin:${name}`, 'Session.userAgent'),
  ])
}

async function plantOrg(world: World, planted: Planted, realm: string, orgId: string): Promise<void> {
  planted.id(realm, 'Org', orgId)
  const slug = planted.mark(realm, 'Org.slug')
  await world.sql('UPDATE identity.orgs SET slug = $2, name = $3 WHERE id = $1', [
    orgId,
    slug,
    planted.mark(realm, 'Org.name'),
  ])
  if (realm === 'ours') Object.assign(world.org, { slug })
  const kinds = realm === 'ours' ? 'kinds' : realm
  const kind = planted.mark(kinds, 'RoomKind.kind')
  await world.sql(
    `INSERT INTO rooms.room_kinds (org_id, kind, provider, display, actions) VALUES ($1, $2, 'core', $3, '{}')`,
    [orgId, kind, planted.mark(kinds, 'RoomKind.display')],
  )
}

async function plantSpace(world: World, planted: Planted, realm: string, space: TestSpace): Promise<void> {
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
  await plantEvent(world, planted, realm, space, { kind: 'Space', id: space.uuid, slug })
}

async function plantRoom(
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
): Promise<void> {
  const event = newId()
  planted.id(`log:${realm}`, 'AuditEvent', event)
  await world.sql(
    `INSERT INTO platform.audit_events (org_id, id, category, event_type, actor_kind, target_kind, target_id, space_id,
       room_id, space_slug, payload) VALUES ($1, $2, 'activity', $3, 'system', $4, $5, $6, $7, $8, $9)`,
    [orgId, event, storyId ? 'story.added' : 'room.ended', kind, id, uuid, roomId, slug, storyId ? { storyId } : {}],
  )
}
