import { randomBytes } from 'node:crypto'
import type { Actor, Asker, TestRoom } from '../support/actor.ts'
import type { App } from '../support/app.ts'
import type { GraphqlClient } from '../support/client.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { plantAgent, plantOrg, plantPerson, plantRoom, plantSpace } from './plant.ts'
import { plantCalls, plantKey, plantSelf } from './plant-keys.ts'
import { plantPersonal } from './plant-personal.ts'
import { plantStandup } from './plant-standup.ts'
import { plantMailed, plantRetried } from './plant-unseen.ts'
import { Planted } from './planted.ts'
import { linkOf } from './play-room-link.ts'

export type Caller = {
  readonly name: string
  readonly client: GraphqlClient
  /** Realms whose content is theirs to see. */
  readonly sees: ReadonlySet<string>
  /** Reads the directory of spaces. */
  readonly registered: boolean
  /** Reads the org's shared things: its members, its agents, how it is set. */
  readonly viewer: boolean
  /** Reads the log of the org, the sessions active in it, and addresses of its people. */
  readonly admin: boolean
  readonly cost: number
}

export type CrawlWorld = { world: World; planted: Planted; callers: Caller[]; otherOrgs: ReadonlySet<string> }

/** What members of the space see; the kinds of rooms are their org's. */
const HOME = ['home', 'home.room', 'home.room2', 'kinds']
/** What of it the activity tells them. */
const HOME_LOG = ['log:home', 'log:home.room', 'log:home.room2']
/** Endpoints of spaces are known to admins of the org, what was delivered to the spaces' owners alone. */
const HOOKS = ['hook:home', 'hook:other']
/** The org's agents are known to its people, their bounds to its admins. */
const AGENTS = ['agents', 'agent:home', 'agent:other', 'agent:robot']
const BOUNDS = ['bounds:agents', 'bounds:home', 'bounds:other', 'bounds:robot']
/** And so are keys, and what was called with them. */
const KEYS = ['key:robot', 'tools:robot', 'key:other', 'tools:other', 'key:program']
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
  const robot = await named('robot', world.agent())
  const mate = await named('mate', world.agent({ space: other.space }))
  const foreign = await world.agent({ orgId: stranger.orgId, space: stranger.space })
  const program = await world.adminKey()

  const rooms: [string, TestRoom][] = []
  for (const [realm, space, count] of [
    ['home.room', world.home, 2],
    ['home.room2', world.home, 1],
    ['other', other.space, 2],
    ['strange', stranger.space, 1],
  ] as const) {
    const host = realm === 'strange' ? stranger : await named(`${realm} host`, world.member({ space }))
    const { room } = await world.pokerRoom({ space, host, stories: count })
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
  for (const [name, person] of people) {
    await plantPerson(world, planted, name, person)
    if (name !== 'meeting' && name !== 'guest') await plantPersonal(world, planted, name, person)
  }
  await plantMailed(world, planted, world.owner)
  await plantRetried(world, planted, member)
  await plantSelf(world, planted, 'robot', robot)
  await plantCalls(world, planted, 'robot', robot)
  await plantCalls(world, planted, 'other', mate)
  await plantCalls(world, planted, 'stranger', foreign)
  await plantKey(world, planted, 'key:program', program)
  await plantOrg(world, planted, 'ours', world.org.id)
  await plantOrg(world, planted, 'strange', stranger.orgId)
  for (const [realm, space] of [
    ['home', world.home],
    ['other', other.space],
    ['strange', stranger.space],
  ] as const) {
    await plantSpace(world, planted, realm, space)
    const [author, name] = { home: [member, 'member'], other: [other, 'other'], strange: [stranger, 'stranger'] }[
      realm
    ] as [Actor, string]
    await plantStandup(world, planted, realm, space, author, `away:${name}`)
  }
  for (const realm of ['agents', 'agent:home', 'agent:other']) await plantAgent(world, planted, realm, world.org.id)
  await plantAgent(world, planted, 'agent:strange', stranger.orgId)
  for (const [realm, room] of rooms) await plantRoom(world, planted, realm, room, members(realm, people))
  for (const [realm, room] of rooms) planted.id(`link:${realm}`, 'RoomLink', uuidOf((await linkOf(world, room)).id))
  await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [former.userId])

  // An embedded session knows its person, and itself among the sessions.
  const self = (name: string, as = name) => [
    ...[`user:${name}`, `mail:${name}`, `away:${name}`],
    ...[`session:${as}`, `origin:${as}`],
  ]
  const everybody = [...people.keys()].filter((name) => name !== 'stranger').map((name) => `user:${name}`)
  const atHome = [
    'owner',
    'member',
    'viewer',
    'anonymous',
    'former',
    'both',
    'robot',
    'home.room host',
    'home.room2 host',
    'guest',
  ]
  const homePeople = atHome.map((name) => `user:${name}`)
  const as = (name: string, { client }: Asker, sees: string[], flags: Partial<Caller> = {}): Caller => ({
    name,
    client,
    sees: new Set([...sees, ...self(name === 'meeting' ? 'owner' : name, name)]),
    registered: false,
    viewer: false,
    admin: false,
    cost: COST,
    ...flags,
  })
  const registered = { registered: true, viewer: true }
  const callers = [
    as(
      'owner',
      world.owner,
      [
        ...['ours', ...everybody, ...HOME, ...HOME_LOG, ...HOOKS, ...AGENTS, ...BOUNDS, ...KEYS],
        ...['delivery:home', 'session:meeting', 'origin:meeting', 'link:home.room', 'link:home.room2'],
      ],
      { ...registered, admin: true },
    ),
    as('admin', admin, ['ours', ...everybody, ...HOOKS, ...AGENTS, ...BOUNDS, ...KEYS], {
      ...registered,
      admin: true,
    }),
    as('member', member, ['ours', ...everybody, ...HOME, ...HOME_LOG, ...AGENTS], registered),
    as('viewer', viewer, ['ours', ...everybody, ...HOME, ...HOME_LOG, ...AGENTS], registered),
    as('loner', loner, ['ours', ...everybody, ...AGENTS], registered),
    as('both', both, ['ours', ...everybody, ...HOME, ...HOME_LOG, ...AGENTS], registered),
    as('anonymous', anonymous, ['ours', ...homePeople, ...HOME]),
    as('drifter', drifter, ['ours']),
    as('meeting', meeting, ['ours', ...homePeople, ...HOME]),
    as('guest', guest, ['ours', 'user:home.room2 host', 'home.room2'], { cost: 1_900 }),
    as('robot', robot, ['ours', ...everybody, ...HOME, ...HOME_LOG, ...AGENTS, 'bounds:robot', 'key:robot'], {
      viewer: true,
    }),
    as('program', program, ['ours', ...everybody, ...HOOKS, ...AGENTS, ...BOUNDS, ...KEYS], {
      viewer: true,
      admin: true,
    }),
    as('former', former, []),
    { ...as('nobody', former, []), client: app.client(), sees: new Set<string>(), cost: 190 },
  ]
  const otherOrgs = new Set([
    'strange',
    'log:strange',
    'state:strange',
    'hook:strange',
    'delivery:strange',
    'link:strange',
    'agent:strange',
    'bounds:strange',
    ...['user', 'mail', 'away', 'name', 'session', 'origin', 'agent', 'bounds', 'key', 'tools'].map(
      (kind) => `${kind}:stranger`,
    ),
  ])
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
