import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import type { GraphqlClient } from '../support/client.ts'
import { digestOf } from './digest.ts'
import { MUTATION_PLAYS } from './mutation-plays.ts'
import { MUTATIONS, perform } from './perform.ts'
import { type Play, Stage } from './stage.ts'

/**
 * Who is asked. In the space: its facilitator and its owner, members by their role in the org, an anonymous one, an owner
 * of org and space in a meeting client, a guest of the room. Outside: the same roles, a guest of another room, the owner
 * of another org, somebody whose membership of the org has ended, nobody.
 */
const INSIDE = ['host', 'steward', 'OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'anonymous', 'meeting', 'guest'] as const
const OUTSIDE = [
  'owner',
  'admin',
  'member',
  'viewer',
  'drifter',
  'embedded',
  'visitor',
  'stranger',
  'former',
  'nobody',
] as const
const COLUMNS = [...INSIDE, ...OUTSIDE]
type Column = (typeof COLUMNS)[number]

const CODES: Record<string, string> = {
  ok: 'ok',
  F: 'FORBIDDEN',
  N: 'NOT_FOUND',
  U: 'UNAUTHENTICATED',
  L: 'LAST_OWNER',
  C: 'CONFLICT',
  I: 'INVALID_INPUT',
}

const ALL = 'ok ok ok ok ok ok ok ok ok'
/** ROOM-6: a space and its rooms are not there for whoever is outside, owners and admins of the org included. */
const HIDDEN = 'N N N N N N N N F U'
/** The same of what is no guest’s at all. */
const BEYOND_GUESTS = 'N N N N N N F N F U'

const RULES: readonly [rule: string, mutations: string, inside: string, outside: string][] = [
  ['ROOM-34, 40 hosts', 'roomRename', 'ok F F F F F F F F', HIDDEN],
  ['ROOM-35, 40 hosts', 'roomConfigSet', 'ok F F F F F F F F', HIDDEN],
  ['ROOM-40, 44, 45 the facilitator', 'roomFacilitatorHandOver roomCofacilitatorSet', 'ok F F F F F F F F', HIDDEN],
  ['ROOM-40, 64, 65, 72 hosts', 'roomSelect roomQuickVote roomReset roomReveal', 'ok F F F F F F F F', HIDDEN],
  ['ROOM-80 hosts', 'roomTimerStart roomTimerExtend roomTimerStop', 'ok F F F F F F F F', HIDDEN],
  ['ROOM-58, 63 hosts', 'storyImport storyUpdate storyMove storyDelete storyEstimate', 'ok F F F F F F F F', HIDDEN],
  ['ROOM-33, 34 hosts and owners of the space', 'roomEnd roomReopen roomDelete', 'ok ok F F F F F F F', HIDDEN],
  ['ROOM-22, 42 who may host', 'roomFacilitatorClaim', 'ok ok ok ok ok F ok F F', HIDDEN],
  ['ROOM-22, 30 who may host', 'roomCreate', 'ok ok ok ok ok F ok F N', HIDDEN],
  ['ROOM-22, 150 registered hosts', 'roomLinkMint', 'ok F F F F F F F F', HIDDEN],
  ['ROOM-22, 154 hosts and owners of the space', 'roomLinkRevoke', 'ok ok F F F F F F N', HIDDEN],
  ['ROOM-151 anybody', 'roomLinkRedeem', ALL, 'ok ok ok ok ok ok ok ok ok ok'],
  ['ROOM-50, 52 who sees the room', 'roomHeartbeat roomLeave', ALL, HIDDEN],
  ['ROOM-22, 120 owners of the space', 'standupScheduleSet', 'F ok F F F F F F N', HIDDEN],
  ['ROOM-21, 129 members but spectators', 'standupAheadPut', 'ok ok ok ok ok F ok ok F', BEYOND_GUESTS],
  ['ROOM-129 whose answer it is', 'standupAheadDelete', 'ok ok ok ok ok ok ok ok F', BEYOND_GUESTS],
  [
    'ROOM-22, 130 all of the org but viewers and guests',
    'awayAdd',
    'ok ok ok ok ok F ok ok F',
    'ok ok ok F ok ok F ok F U',
  ],
  ['ROOM-130 whose days they are', 'awayDelete', 'ok ok ok ok ok ok ok ok F', 'ok ok ok ok ok ok F ok F U'],
  [
    'ROOM-22, 140 registered people',
    'calendarFeedMint calendarFeedUpdate calendarFeedRevoke',
    'ok ok ok ok ok ok F F F',
    'ok ok ok ok F F F ok F U',
  ],
  ['ROOM-22, 57 members but viewers', 'deckCreate deckUpdate deckDelete', 'ok ok ok ok ok F ok ok N', HIDDEN],
  ['ROOM-22, 58 members but viewers', 'storyAdd', 'ok ok ok ok ok F ok ok F', HIDDEN],
  ['ROOM-22, 69, 70 voters', 'voteCast voteClear', 'ok ok ok ok ok F ok ok ok', HIDDEN],
  ['ROOM-22, 91, 92 who speaks', 'standupEntryPut standupReadySet', 'ok ok ok ok ok F ok ok ok', HIDDEN],
  ['ROOM-93, 97 hosts', 'standupStart standupOrderSet standupGather', 'ok F F F F F F F F', HIDDEN],
  ['ROOM-94, 95 hosts, and whoever has the turn', 'standupNext standupSkip', 'ok F F F ok F F F F', HIDDEN],
  ['ROOM-22, 161 participants but viewers', 'roomAct', 'ok ok ok ok ok F ok ok ok', HIDDEN],
  ['ROOM-22, 98 members but viewers', 'standupEntryComment', 'ok ok ok ok ok F ok ok F', HIDDEN],
  ['ROOM-22, 100 members but viewers', 'commitmentAdd', 'ok ok ok ok ok F ok ok F', HIDDEN],
  ['ROOM-102 whose commitment it is', 'commitmentAnswer', 'F F F F ok F F F N', HIDDEN],
  ['ROOM-22, 107 members but viewers', 'mentionAdd', 'ok I ok ok ok F ok ok F', HIDDEN],
  ['ROOM-22, 107 members but viewers', 'mentionRemove', 'ok ok ok ok ok F ok ok F', HIDDEN],
  ['ROOM-22, 109 members but viewers', 'kudosGive', 'ok I ok ok ok F ok ok F', BEYOND_GUESTS],
  ['ROOM-110 whose kudos it is', 'kudosDelete', 'F F F F ok F F F F', BEYOND_GUESTS],
  ['ROOM-98 whose comment it is', 'standupEntryCommentDelete', 'F F F F ok F F F F', HIDDEN],
  ['ROOM-22, 98 all in the room but viewers', 'standupEntryReact', 'ok ok ok ok ok F ok ok ok', HIDDEN],
  ['ROOM-10 registered people who write', 'spaceCreate', 'ok ok ok ok ok F F F F', 'ok ok ok F F F F ok F U'],
  ['ROOM-11 owners of the space', 'spaceUpdate', 'F ok F F F F F F N', HIDDEN],
  ['ID-6 owners of the space', 'webhookCreate', 'F ok F F F F F F N', HIDDEN],
  // Admins of the org know of a space's endpoint, may delete it, and see nothing of what it is sent.
  [
    'ID-6 owners of the space; admins know of it',
    'webhookUpdate webhookRotateSecret webhookTest',
    'N ok F F N N N N N',
    'F F N N N N N N F U',
  ],
  ['ID-6 owners of the space, admins', 'webhookDelete', 'N ok ok ok N N N N N', 'ok ok N N N N N N F U'],
  ['ID-6 owners of the space alone', 'webhookDeliveryRedeliver', 'N ok N N N N N N N', HIDDEN],
  ['ROOM-16 owners of the space', 'spaceMemberAdd spaceMemberRoleSet spaceMemberRemove', 'F ok F F F F F F N', HIDDEN],
  ['ROOM-14, 22 all of the org but guests', 'spaceJoin', 'ok ok ok ok ok ok ok ok N', 'ok ok ok ok ok ok N N F U'],
  ['ROOM-15, 22 members', 'spaceLeave spaceSeen', 'ok ok ok ok ok ok ok ok N', HIDDEN],
  ['ROOM-21, 22 members but viewers', 'spaceSpectatorSet', 'ok ok ok ok ok F ok ok N', HIDDEN],
  ['ID-17 registered people, there', 'sessionSwitchOrg', 'ok ok ok ok ok ok F F F', 'ok ok ok ok F F F N ok U'],
  ['ID-30, 32 anybody', 'embedHandoffStart embedHandoffRedeem', ALL, 'ok ok ok ok ok ok ok ok ok ok'],
  [
    'ID-29, 31 registered people',
    'embedHandoffBind viewerUnlinkOidc',
    'ok ok ok ok ok ok F F F',
    'ok ok ok ok F F F ok F U',
  ],
  ['ID-6, 60 admins', 'spaceArchive spaceUnarchive', 'F F ok ok F F F F F', 'ok ok F F F F F N F U'],
  ['ID-6, 61, 62 admins', 'spaceClaim spaceAddOwner', 'F F ok ok F F F F F', 'ok ok F F F F F N F U'],
  ['ROOM-20 owners of the space, admins', 'spaceDelete', 'F ok ok ok F F F F N', 'ok ok N N N N N N F U'],
  ['ID-6, 34 admins', 'memberInvite', 'F F ok ok F F F F F', 'ok ok F F F F F ok F U'],
  ['ID-6, 37, 38 admins', 'memberUpdate memberRevoke', 'F F ok ok F F F F F', 'ok ok F F F F F N F U'],
  ['ID-38, 39 registered people', 'memberLeave', 'ok ok ok ok ok ok F F F', 'ok ok ok ok F F F L F U'],
  // An org that is not archived is not purged; the slug that the play names is not that of the other org's owner.
  ['ID-6, 63 owners', 'orgPurge', 'F F C F F F F F F', 'C F F F F F F I F U'],
  // Who owns another org alone stays; the name of a guest who comes later is not the one that the play wrote.
  ['ID-4, 65 whoever has a name', 'viewerErase', 'ok ok ok ok ok ok ok F I', 'ok ok ok ok ok F ok L F U'],
  ['ID-57 registered people', 'orgCreate', 'ok ok ok ok ok ok F F F', 'ok ok ok ok F F F ok F U'],
  ['ID-11 whoever has a name', 'viewerUpdate', ALL, 'ok ok ok ok ok ok ok ok F U'],
  // A meeting client knows no other session, a guest has none (ID-4).
  ['ID-18 whose session it is', 'sessionRevoke', 'ok ok ok ok ok ok ok N N', 'ok ok ok ok ok N N ok F U'],
  ['ID-4, 18 but in a meeting client', 'sessionEndAll', 'ok ok ok ok ok ok ok F ok', 'ok ok ok ok ok F ok ok F U'],
  ['ID-21, 23 anybody', 'sessionCreateAnonymous sessionCreateWithPassword', ALL, 'ok ok ok ok ok ok ok ok ok ok'],
  // The slug that the play names is taken for the owner of another org.
  ['ID-6 admins', 'orgUpdate', 'F F ok ok F F F F F', 'ok ok F F F F F C F U'],
  ['ID-6, 58, 59 admins', 'orgStop orgResume orgArchive orgUnarchive', 'F F ok ok F F F F F', 'ok ok F F F F F ok F U'],
  ['ID-6, 42 admins', 'agentCreate', 'F F ok ok F F F F F', 'ok ok F F F F F N F U'],
  [
    'ID-6, 43, 69 admins',
    'agentUpdate agentSuspend agentStop agentResume agentSetProjects agentAddIntentKey agentRemoveIntentKey',
    'F F ok ok F F F F F',
    'ok ok F F F F F N F U',
  ],
  ['ID-6 admins', 'apiKeyCreate apiKeyRotate apiKeyRevoke', 'F F ok ok F F F F F', 'ok ok F F F F F N F U'],
  [
    'ID-24 to 26 anybody',
    'loginRequest sessionCreateWithToken sessionCreateWithCode waitlistJoin',
    ALL,
    'ok ok ok ok ok ok ok ok ok ok',
  ],
  ['ID-4, 12, 27 registered people', 'viewerSetPassword', 'ok ok ok ok ok ok F F F', 'ok ok ok ok F F F ok F U'],
  ['ID-2, 18 anybody', 'sessionEnd', ALL, 'ok ok ok ok ok ok ok ok ok ok'],
]
const ROWS = RULES.flatMap(([rule, mutations, inside, outside]) =>
  mutations.split(' ').map((name) => ({ rule, name, cells: `${inside} ${outside}`.split(' ') })),
)

let stage: Stage
const people = new Map<Column, Actor>()
/** Of somebody without standing no session can be made any more: these may be ended, or go elsewhere. */
let formerToo: Actor
let formerAway: Actor
beforeAll(async () => {
  stage = await Stage.open(await startApp({ MOOTHALL_ORG_CREATE: 'registered' }))
  const { world, cast, elsewhere } = stage
  const space = null
  const made: Record<Exclude<Column, 'guest' | 'nobody'>, Actor> = {
    host: cast.host,
    steward: cast.steward,
    OWNER: await world.member({ space, role: 'owner' }),
    ADMIN: await world.member({ space, role: 'admin' }),
    MEMBER: cast.member,
    VIEWER: await world.viewer({ space }),
    anonymous: await world.anonymous({ space }),
    meeting: await world.embedded(cast.deputy),
    owner: await world.member({ space, role: 'owner' }),
    admin: await world.member({ space, role: 'admin' }),
    member: cast.newcomer,
    viewer: await world.viewer({ space }),
    drifter: await world.anonymous({ space }),
    embedded: await world.embedded(await world.member({ space, role: 'owner' })),
    visitor: await world.guest(elsewhere.sameOrg.room),
    stranger: elsewhere.otherOrg,
    former: await world.member({ space }),
  }
  for (const [name, person] of Object.entries(made)) people.set(name as Column, person)
  formerToo = await stage.anew(made.former)
  formerAway = await stage.anew(made.former)
  await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [made.former.userId])
}, 60_000)
afterAll(() => stage?.world.close())

it('ID-6 every mutation has its row, and every row a cell for everybody', () => {
  expect(ROWS.map(({ name }) => name).toSorted()).toEqual(MUTATIONS.toSorted())
  for (const { cells } of ROWS) {
    expect(cells).toHaveLength(COLUMNS.length)
    expect(cells.every((cell) => cell in CODES)).toBe(true)
  }
})

it.each(ROWS)('ID-4, ID-5, ID-6 $name: $rule', async ({ name, cells }) => {
  const expected = Object.fromEntries(COLUMNS.map((column, at) => [column, CODES[cells[at]!]!]))
  const outcomes: Record<string, string> = {}
  const refused = COLUMNS.filter((column) => expected[column] !== 'ok')
  // Those who may not ask one after the other, and nothing is different afterwards.
  const play = await startOf(name)
  const clients = new Map<Column, GraphqlClient>()
  for (const column of refused) clients.set(column, await clientOf(column, play, name))
  const before = await digestOf(stage.world)
  for (const column of refused) outcomes[column] = await ask(clients.get(column)!, name, play)
  expect(await digestOf(stage.world)).toEqual(before)

  for (const column of COLUMNS) {
    if (expected[column] !== 'ok') continue
    const own = await startOf(name, column)
    outcomes[column] = await ask(await clientOf(column, own, name), name, own)
    if (name === 'memberLeave' || name === 'viewerErase') await comeBack(column)
  }
  expect(outcomes).toEqual(expected)
})

async function startOf(name: string, column?: Column): Promise<Play> {
  const also = (['OWNER', 'ADMIN', 'VIEWER', 'anonymous'] as const).map((each) => people.get(each)!)
  const actor = column && people.get(column)
  const play = await stage.play({ also, ...(actor && { actor }) })
  await MUTATION_PLAYS[name]!.prepare?.(stage.world, play)
  return play
}

async function clientOf(column: Column, play: Play, name: string): Promise<GraphqlClient> {
  if (column === 'nobody') return stage.world.app.client()
  if (column === 'guest') return (await stage.world.guest(play.room)).client
  const takesSession = name.startsWith('sessionEnd') || name === 'sessionSwitchOrg'
  if (!takesSession) return people.get(column)!.client
  if (column === 'former') return (name === 'sessionSwitchOrg' ? formerAway : formerToo).client
  const anew = await stage.anew(people.get(column)!)
  if (name === 'sessionEndAll') {
    stage.recast(people.get(column)!, anew) // the one that it spares
    people.set(column, anew)
  }
  return anew.client
}

/** Whoever has left is there again, by a session that holds. */
async function comeBack(column: Column): Promise<void> {
  const { world, elsewhere } = stage
  const isAnonymous = column === 'anonymous' || column === 'drifter'
  const back =
    column === 'visitor'
      ? world.guest(elsewhere.sameOrg.room)
      : stage.comeBack(people.get(column)!, isAnonymous ? 'anonymous' : 'password')
  people.set(column, await back)
}

function ask(client: GraphqlClient, name: string, play: Play): Promise<string> {
  const input = MUTATION_PLAYS[name]!.input?.(play)
  // A connection is one person's.
  const own = name === 'roomHeartbeat' || name === 'roomLeave' ? { ...input, connectionId: newId() } : input
  return perform(client, name, own)
}
