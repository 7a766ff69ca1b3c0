import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { expireGuests } from '../../src/rooms/link/expire-guests.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { lastEvents, TABLE } from './poker-table.ts'

type Guest = Actor & { readonly linkId: string }

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const sweep = () => expireGuests((work) => work())

/** Sweeps until nobody of them takes part: a room that the app's own sweep holds is left to it. */
const sweptOut = (room: TestRoom, ...guests: Guest[]) =>
  vi.waitFor(async () => {
    await sweep()
    const there = await participantsOf(room)
    expect(guests.filter(({ userId }) => there.includes(userId))).toEqual([])
  }, 15_000)

/** The link's time is over, and with it the guest's and their session's. */
async function expire(guest: Guest, ago = '1 minute'): Promise<void> {
  const ended = `now() - interval '${ago}'`
  await world.sql(
    `UPDATE rooms.room_links SET created_at = ${ended} - interval '1 day', expires_at = ${ended} WHERE id = $1`,
    [guest.linkId],
  )
  await world.sql(`UPDATE rooms.room_guests SET expires_at = ${ended} WHERE user_id = $1`, [guest.userId])
  await world.sql(`UPDATE identity.sessions SET expires_at = ${ended} WHERE user_id = $1`, [guest.userId])
}

async function guestIn(room: TestRoom): Promise<Guest> {
  const guest = await world.guest(room)
  await world.attend(room, guest)
  return guest
}

const participantsOf = async (room: TestRoom) =>
  (await world.sql('SELECT user_id FROM rooms.room_participants WHERE room_id = $1', [room.uuid])).map(
    ({ user_id }) => user_id,
  )
const leftFacts = (room: TestRoom) =>
  world.sql(
    `SELECT payload, actor_user_id FROM platform.audit_events WHERE room_id = $1 AND event_type = 'room.participant_left' ORDER BY id`,
    [room.uuid],
  )

it('ROOM-66, ROOM-68 a guest whose link ran out leaves, and a round that waited for them alone is revealed', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1, autoReveal: true })
  const guest = await guestIn(room)
  for (const voter of [host, ...voters]) await voter.vote(room, '5')
  expect((await host.room(room, TABLE)).poker.revealed).toBe(false)

  await sweep() // not yet
  expect(await participantsOf(room)).toContain(guest.userId)
  await expire(guest)
  await sweptOut(room, guest)

  expect(await lastEvents(world, room, 2)).toMatchObject([
    { type: 'ParticipantLeft', payload: { userId: guest.userId, reason: 'EXPIRED' } },
    { type: 'RoundRevealed', payload: { reason: 'AUTO' } },
  ])
  expect(await leftFacts(room)).toMatchObject([{ payload: { reason: 'EXPIRED' }, actor_user_id: null }])
})

it('ROOM-68, ROOM-76 the guest’s vote stays, the place of the snapshot goes, and the wait with it', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1, openVoting: true, autoReveal: true })
  const [gone, staying] = [await guestIn(room), await guestIn(room)]
  await world.sql(
    `INSERT INTO rooms.round_voters (org_id, room_id, story_id, user_id)
     SELECT p.org_id, p.room_id, r.current_story_id, p.user_id
     FROM rooms.room_participants AS p JOIN rooms.rooms AS r ON r.id = p.room_id WHERE r.id = $1`,
    [room.uuid],
  )
  await gone.vote(room, '8')
  for (const voter of [host, ...voters]) await voter.vote(room, '5')
  await expire(gone)
  await sweptOut(room, gone)

  const waited = await world.sql('SELECT user_id FROM rooms.round_voters WHERE room_id = $1', [room.uuid])
  expect(waited.map(({ user_id }) => user_id).sort()).toEqual(
    [host, ...voters, staying].map(({ userId }) => userId).sort(),
  )
  expect((await host.room(room, TABLE)).poker.revealed).toBe(false)
  await staying.vote(room, '5')
  expect((await host.room(room, TABLE)).poker).toMatchObject({
    revealed: true,
    currentStory: { result: { counted: 4 } },
  })
})

it('ROOM-68 two processes at once tell of it once, and again nothing is left to tell', async () => {
  const { room } = await world.pokerRoom()
  const guests = [await guestIn(room), await guestIn(room)]
  for (const guest of guests) await expire(guest)
  await Promise.all([sweep(), sweep(), sweep()])
  await sweptOut(room, ...guests)

  const left = (await lastEvents(world, room, 10)).filter(({ type }) => type === 'ParticipantLeft')
  expect(left.map(({ payload }) => payload['userId']).sort()).toEqual(guests.map(({ userId }) => userId).sort())
  expect(await leftFacts(room)).toHaveLength(2)
})

it('ROOM-33, ID-59 a room that has ended, and one of an org that takes no writes, stay as they are', async () => {
  const { room: done } = await world.pokerRoom()
  const { room: quiet } = await world.pokerRoom()
  const guests = [await guestIn(done), await guestIn(quiet)]
  await world.sql(`UPDATE rooms.rooms SET phase = 'done', ended_at = now() WHERE id = $1`, [done.uuid])
  await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [world.org.id])
  for (const guest of guests) await expire(guest)
  await sweep()
  expect(await participantsOf(done)).toContain(guests[0]!.userId)
  expect(await participantsOf(quiet)).toContain(guests[1]!.userId)

  await world.sql(`UPDATE identity.orgs SET status = 'active', archived_at = NULL WHERE id = $1`, [world.org.id])
  await sweptOut(quiet, guests[1]!)
  expect(await participantsOf(done)).toContain(guests[0]!.userId)
})

it('ID-33 a session holds no longer than its link, also when that alone was revoked, by SQL', async () => {
  const { room, host } = await world.pokerRoom()
  const guest = await guestIn(room)
  expect(await guest.client.send('query ($id: ID!) { room(id: $id) { title } }', { id: room.id })).toMatchObject({
    data: { room: { title: 'Planning' } },
  })
  await world.sql('UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [guest.linkId])
  const { errors } = await guest.client.send('query ($id: ID!) { room(id: $id) { title } }', { id: room.id })
  expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
  expect(await host.room(room)).toMatchObject({ id: room.id })
})
