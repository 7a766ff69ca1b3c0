import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor, Asker } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { digestOf } from './digest.ts'
import { MUTATION_PLAYS } from './mutation-plays.ts'
import { MUTATIONS, perform } from './perform.ts'
import { type Play, Stage } from './stage.ts'

/** Who calls with a key that has every scope: an agent that writes, in the space and out of it, and an admin key. */
const COLUMNS = ['agent', 'outsider', 'adminKey'] as const
type Column = (typeof COLUMNS)[number]

const CODES: Record<string, string> = {
  ok: 'ok',
  F: 'FORBIDDEN',
  N: 'NOT_FOUND',
  stopped: 'ORG_STOPPED',
  archived: 'ORG_ARCHIVED',
}

const RULES: readonly [rule: string, mutations: string, cells: string][] = [
  ['ID-12, 18, 31, 38, 57 people', 'viewerUpdate viewerErase viewerSetPassword viewerUnlinkOidc orgCreate', 'F F F'],
  ['ID-17, 18, 31, 38 people', 'sessionEnd sessionEndAll sessionSwitchOrg embedHandoffBind memberLeave', 'F F F'],
  ['ID-6, 7 owners and admins in person', 'orgPurge spaceArchive spaceUnarchive spaceClaim spaceAddOwner', 'F F F'],
  ['ID-6, 7, 58 owners and admins in person', 'orgResume', 'stopped stopped F'],
  ['ROOM-10, 14, 22 people', 'spaceCreate spaceJoin', 'F F F'],
  ['ID-6, 34, 37, 38 admins', 'memberInvite memberUpdate memberRevoke', 'F F ok'],
  ['ID-6, 58, 59 admins', 'orgUpdate orgStop orgArchive', 'F F ok'],
  ['ID-6, 59 admins', 'orgUnarchive', 'archived archived ok'],
  ['ID-6, 42, 43 admins', 'agentCreate agentUpdate agentSuspend agentResume agentStop', 'F F ok'],
  ['ID-6, 45, 48 admins', 'agentSetProjects agentAddIntentKey agentRemoveIntentKey', 'F F ok'],
  ['ID-6, 52 to 54 admins', 'apiKeyCreate apiKeyRotate apiKeyRevoke', 'F F ok'],
  ['ID-18 admins', 'sessionRevoke', 'N N ok'],
  ['ID-6 owners of the space, admins', 'webhookDelete', 'N N ok'],
  ['ID-6 owners of the space', 'webhookCreate', 'F N N'],
  ['ID-6 owners of the space', 'webhookUpdate webhookRotateSecret webhookTest', 'N N F'],
  ['ID-6 owners of the space', 'webhookDeliveryRedeliver', 'N N N'],
  // An admin key is nobody, so it is in no space (ROOM-6).
  [
    'ROOM-11, 16, 20, 22 owners',
    'spaceUpdate spaceDelete spaceMemberAdd spaceMemberRoleSet spaceMemberRemove',
    'F N F',
  ],
  ['ROOM-22, 30, 33 hosts', 'roomCreate roomRename roomEnd roomReopen roomDelete roomFacilitatorClaim', 'F N F'],
  ['ROOM-22, 35, 44, 45 hosts', 'roomConfigSet roomFacilitatorHandOver roomCofacilitatorSet', 'F N F'],
  [
    'ROOM-22, 40 hosts',
    'roomSelect roomQuickVote roomReset roomReveal roomTimerStart roomTimerExtend roomTimerStop',
    'F N F',
  ],
  ['ROOM-22, 58 hosts', 'storyImport storyUpdate storyMove storyDelete storyEstimate', 'F N F'],
  ['ROOM-22, 50, 58, 69 members', 'roomHeartbeat roomLeave storyAdd voteCast voteClear', 'ok N F'],
  ['ROOM-22, 93, 94, 95, 97 hosts', 'standupStart standupNext standupSkip standupOrderSet standupGather', 'F N F'],
  ['ROOM-22, 91, 92, 98 members', 'standupEntryPut standupReadySet standupEntryComment standupEntryReact', 'ok N F'],
  ['ROOM-22, 161 members', 'roomAct', 'ok N F'],
  ['ROOM-22, 100, 107, 109 members', 'commitmentAdd mentionAdd mentionRemove kudosGive', 'ok N F'],
  ['ROOM-102, 110 whose it is', 'commitmentAnswer kudosDelete', 'F N F'],
  ['ROOM-98 whose comment it is', 'standupEntryCommentDelete', 'F N F'],
  ['ROOM-22, 150, 154 hosts', 'roomLinkMint roomLinkRevoke', 'F N F'],
  ['ROOM-151 anybody', 'roomLinkRedeem', 'ok ok ok'],
  ['ROOM-22, 120 owners', 'standupScheduleSet', 'F N F'],
  ['ROOM-22, 129 members', 'standupAheadPut standupAheadDelete', 'ok N F'],
  ['ROOM-22, 130 members of whatever space', 'awayAdd', 'ok ok F'],
  ['ROOM-130 whose days they are', 'awayDelete', 'N N F'],
  ['ROOM-22, 140 people', 'calendarFeedMint calendarFeedUpdate calendarFeedRevoke', 'F F F'],
  ['ROOM-22, 57 members', 'deckCreate deckUpdate deckDelete', 'ok N F'],
  ['ROOM-15, 21 members', 'spaceLeave spaceSeen spaceSpectatorSet', 'ok N F'],
  // Whoever they are: what they present here is another credential.
  ['ID-21 to 26, 36 anybody', 'sessionCreateAnonymous sessionCreateWithPassword sessionCreateWithToken', 'ok ok ok'],
  ['ID-24, 26, 30, 32 anybody', 'sessionCreateWithCode loginRequest embedHandoffStart embedHandoffRedeem', 'ok ok ok'],
  ['ID-24 anybody', 'waitlistJoin', 'ok ok ok'],
]
const ROWS = RULES.flatMap(([rule, mutations, cells]) =>
  mutations.split(' ').map((name) => ({ rule, name, cells: cells.split(' ') })),
)

let stage: Stage
let askers: Record<Column, Asker>
let reader: Actor
beforeAll(async () => {
  stage = await Stage.open(await startApp({ MOOTHALL_ORG_CREATE: 'registered' }))
  const { world } = stage
  askers = {
    agent: await world.agent({ space: null }),
    outsider: await world.agent({ space: null }),
    adminKey: await world.adminKey(),
  }
  reader = await world.agent({ space: null, mode: 'read' })
}, 120_000)
afterAll(() => stage?.world.close())

it('ID-6 every mutation has its row for keys, and every row a cell for each', () => {
  expect(ROWS.map(({ name }) => name).toSorted()).toEqual(MUTATIONS.toSorted())
  for (const { cells } of ROWS) {
    expect(cells).toHaveLength(COLUMNS.length)
    expect(cells.every((cell) => cell in CODES)).toBe(true)
  }
})

it.each(ROWS)('ID-6, 7, 44 $name by a key: $rule', async ({ name, cells }) => {
  const expected = Object.fromEntries(COLUMNS.map((column, at) => [column, CODES[cells[at]!]!]))
  const outcomes: Record<string, string> = {}
  for (const column of COLUMNS) {
    const play = await startOf(name)
    const before = expected[column] === 'ok' ? null : await digestOf(stage.world)
    outcomes[column] = await ask(askers[column], name, play)
    if (before) expect(await digestOf(stage.world)).toEqual(before)
  }
  expect(outcomes).toEqual(expected)
})

it.each(MUTATIONS)('ID-44 an agent that only reads is refused %s, whatever its key is good for', async (name) => {
  const play = await startOf(name)
  const before = await digestOf(stage.world)
  expect(['FORBIDDEN', 'ORG_STOPPED', 'ORG_ARCHIVED']).toContain(await ask(reader, name, play))
  expect(await digestOf(stage.world)).toEqual(before)
})

async function startOf(name: string): Promise<Play> {
  const play = await stage.play({ also: [askers.agent as Actor, reader] })
  await MUTATION_PLAYS[name]!.prepare?.(stage.world, play)
  return play
}

function ask({ client }: Asker, name: string, play: Play): Promise<string> {
  const input = MUTATION_PLAYS[name]!.input?.(play)
  // A connection is one person's.
  const own = name === 'roomHeartbeat' || name === 'roomLeave' ? { ...input, connectionId: newId() } : input
  return perform(client, name, own)
}
