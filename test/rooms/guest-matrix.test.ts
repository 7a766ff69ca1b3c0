import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/type-id.ts'
import { expireGuests } from '../../src/rooms/link/expire-guests.ts'
import { digestOf } from '../contract/digest.ts'
import { MUTATION_PLAYS } from '../contract/mutation-plays.ts'
import { MUTATIONS, perform } from '../contract/perform.ts'
import { type Play, Stage } from '../contract/stage.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import type { GraphqlClient } from '../support/client.ts'

/**
 * Every mutation of the schema, asked by those who stand at the edge of a room: what each of them may is named here, and
 * whatever comes to the schema is theirs only once it is named (ROOM-155, 22). Others are asked in the standings table.
 */

const ANYBODY = [
  'embedHandoffRedeem',
  'embedHandoffStart',
  'loginRequest',
  'roomLinkRedeem',
  'sessionCreateAnonymous',
  'sessionCreateWithCode',
  'sessionCreateWithPassword',
  'sessionCreateWithToken',
  'sessionEnd',
  'waitlistJoin',
].filter((name) => MUTATIONS.includes(name))

/** ROOM-155: vote, write their entry, ready, be a speaker, react, heartbeat; what a kind lets any participant do. */
const OF_GUESTS = [
  'roomAct', // where the kind's action is any participant’s (ROOM-161)
  'roomHeartbeat',
  'roomLeave',
  'standupEntryPut',
  'standupEntryReact',
  'standupReadySet',
  'voteCast',
  'voteClear',
]
/** What is of every person with a name and a session. */
const OF_THEMSELVES = ['sessionEndAll', 'viewerUpdate']

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open(await startApp({ MOOTHALL_ORG_CREATE: 'registered' }))
}, 60_000)
afterAll(() => stage?.world.close())

it('ROOM-155 every mutation is asked', () => {
  expect(MUTATIONS.filter((name) => !(name in MUTATION_PLAYS))).toEqual([])
  expect(MUTATIONS.length).toBeGreaterThan(100)
})

describe.each(['revoked', 'expired'] as const)('a guest whose link is %s', (how) => {
  it.each(MUTATIONS.filter((name) => !ANYBODY.includes(name)))('ROOM-154, ID-33 is nobody to %s', async (name) => {
    const play = await startOf(name)
    const guest = await attending(play)
    // The link alone: what is asked of the session follows it.
    if (how === 'revoked') {
      await stage.world.sql('UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [guest.linkId])
    } else await expire(guest)
    await expireGuests((work) => work()) // or the app's own sweep may, at any moment of what follows
    await unchanged(async () => expect(await ask(guest.client, name, play)).toBe('UNAUTHENTICATED'))
  })
})

it.each(MUTATIONS)('ROOM-155 a guest of the room, for %s', async (name) => {
  const play = await startOf(name)
  const guest = await attending(play)
  const allowed = [...ANYBODY, ...OF_GUESTS, ...OF_THEMSELVES].includes(name)
  if (allowed) return expect(await ask(guest.client, name, play)).toBe('ok')
  await unchanged(async () =>
    expect(['FORBIDDEN', 'NOT_FOUND', 'INVALID_INPUT']).toContain(await ask(guest.client, name, play)),
  )
})

const ofRooms = MUTATIONS.filter((name) => /^(room|story|vote|standup|commitment|mention|kudos)/.test(name))

it.each(ofRooms.filter((name) => !ANYBODY.includes(name)))(
  'ROOM-6, 155 a guest of another room, also of the same space, for %s',
  async (name) => {
    const play = await startOf(name)
    const { room: beside } = await stage.world.pokerRoom({ space: play.space, host: play.host })
    const guest = await stage.world.guest(beside)
    await unchanged(async () => expect(['NOT_FOUND', 'FORBIDDEN']).toContain(await ask(guest.client, name, play)))
    // Absent, but where no guest at all may: that is said before anything is looked up.
    const own = await stage.world.guest(play.room)
    const there = await ask(guest.client, name, play)
    const here = await ask(own.client, name, play)
    if (there === 'FORBIDDEN') expect(here).toBe('FORBIDDEN')
  },
)

/** What a spectator of the space may not although a member may: to cast, to answer, to speak (ROOM-21, 22, 69, 91). */
const NOT_WATCHING = ['standupAheadPut', 'standupEntryPut', 'standupReadySet', 'voteCast', 'voteClear']

it.each(ofRooms)('ROOM-21, ROOM-22 a spectator may what a member may, but for what is counted: %s', async (name) => {
  const member = await stage.world.member({ space: null })
  const asMember = await ask(...(await within(name, member)))
  const watcher = await stage.world.member({ space: null })
  const play = await within(name, watcher, true)
  const asked = await ask(...play)
  if (NOT_WATCHING.includes(name)) expect(asked).toBe('FORBIDDEN')
  else expect(asked).toBe(asMember)
})

/** What an agent whose key is good for everything may not although a member may (ROOM-22, 42, 150). */
const NOT_FOR_AGENTS = ['roomCreate', 'roomFacilitatorClaim']

it.each(ofRooms)('ROOM-22 an agent that writes may what a member may, but lead: %s', async (name) => {
  const asMember = await ask(...(await within(name, await stage.world.member({ space: null }))))
  const asAgent = await ask(...(await within(name, await stage.world.agent({ space: null }))))
  if (NOT_FOR_AGENTS.includes(name)) expect(asAgent).toBe('FORBIDDEN')
  else expect(asAgent).toBe(asMember)
})

it.each(ofRooms.filter((name) => !ANYBODY.includes(name)))(
  'ROOM-22 an agent that reads changes nothing: %s',
  async (name) => {
    const [client, , play] = await within(name, await stage.world.agent({ space: null, mode: 'read' }))
    await unchanged(async () => expect(await ask(client, name, play)).toBe('FORBIDDEN'))
  },
)

async function startOf(name: string, also: readonly Actor[] = []): Promise<Play> {
  const play = await stage.play({ also })
  await MUTATION_PLAYS[name]!.prepare?.(stage.world, play)
  return play
}

/** Somebody in the space who leads nothing, and a play that waits for them. */
async function within(name: string, person: Actor, spectator = false): Promise<[GraphqlClient, string, Play]> {
  const play = await startOf(name, [person])
  if (spectator) {
    await stage.world.sql('UPDATE rooms.space_members SET spectator = true WHERE space_id = $1 AND user_id = $2', [
      play.space.uuid,
      person.userId,
    ])
  }
  return [person.client, name, play]
}

async function attending(play: Play) {
  const guest = await stage.world.guest(play.room)
  await stage.world.attend(play.room, guest)
  return guest
}

async function expire({ userId, linkId }: Actor & { linkId: string }): Promise<void> {
  const { world } = stage
  await world.sql(
    `UPDATE rooms.room_links SET created_at = now() - interval '20 hours', expires_at = now() - interval '1 hour' WHERE id = $1`,
    [linkId],
  )
  await world.sql(`UPDATE rooms.room_guests SET expires_at = now() - interval '1 hour' WHERE user_id = $1`, [userId])
  await world.sql(`UPDATE identity.sessions SET expires_at = now() - interval '1 hour' WHERE user_id = $1`, [userId])
}

async function unchanged(body: () => Promise<unknown>): Promise<void> {
  const before = await digestOf(stage.world)
  await body()
  expect(await digestOf(stage.world)).toEqual(before)
}

function ask(client: GraphqlClient, name: string, play: Play): Promise<string> {
  const input = MUTATION_PLAYS[name]!.input?.(play)
  // A connection is one person's.
  const own = name === 'roomHeartbeat' || name === 'roomLeave' ? { ...input, connectionId: newId() } : input
  return perform(client, name, own)
}
