import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { idsOf, lastEvents, next, open, reset, TABLE } from './poker-table.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const uuidsOf = (people: Actor[]) => people.map(({ userId }) => userId).sort()

/** Of whom the snapshot of the round on the table is. */
async function snapshotOf(room: TestRoom): Promise<string[]> {
  const rows = await world.sql<{ user_id: string }>(
    `SELECT w.user_id FROM rooms.round_voters AS w JOIN rooms.rooms AS r ON r.current_story_id = w.story_id
     WHERE r.id = $1 ORDER BY w.user_id`,
    [room.uuid],
  )
  return rows.map(({ user_id }) => user_id)
}

/** So long ago that no sweep comes for them any more: the next vote does. */
const expire = async (guest: Actor & { linkId: string }) => {
  await world.sql(
    `UPDATE rooms.room_links SET created_at = now() - interval '4 days', expires_at = now() - interval '3 days' WHERE id = $1`,
    [guest.linkId],
  )
  await world.sql(`UPDATE rooms.room_guests SET expires_at = now() - interval '3 days' WHERE user_id = $1`, [
    guest.userId,
  ])
}
const revoke = (guest: { linkId: string }) =>
  world.sql('UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [guest.linkId])

/** A round of open voting that waits for its host, voters and two guests. */
async function withGuests() {
  const made = await world.pokerRoom({ voters: 1, openVoting: true, autoReveal: true })
  const guests = [await world.guest(made.room), await world.guest(made.room)] as const
  for (const guest of guests) await world.attend(made.room, guest)
  await reset(made.host, made.room)
  return { ...made, guests }
}

it('ROOM-68 an expired guest is not waited for, and loses the place on the next vote, which tells of it', async () => {
  const { room, host, voters, guests } = await withGuests()
  const [lapsed, other] = guests
  await host.vote(room, '5')
  await expire(lapsed)
  expect(await snapshotOf(room)).toEqual(uuidsOf([host, ...voters, ...guests]))
  expect(idsOf((await host.room(room, TABLE)).poker.waitingFor)).toEqual(idsOf([...voters, other]))

  const { version } = await host.room(room)
  await voters[0]!.vote(room, '5')
  expect(await snapshotOf(room)).toEqual(uuidsOf([host, ...voters, other]))
  expect(await lastEvents(world, room, 2)).toMatchObject([
    { type: 'VoteCast', version: next(version) },
    { type: 'RoundVotersChanged', version: next(version, 2n), payload: { waitingForIds: [other.userId] } },
  ])
  expect((await host.room(room, TABLE)).poker.revealed).toBe(false)
  // The next vote tells of nothing more, and by a guest it is the same.
  await other.vote(room, '5')
  expect((await lastEvents(world, room, 2)).map(({ type }) => type)).toEqual(['VoteCast', 'RoundRevealed'])
})

it('ROOM-66, ROOM-68 the vote of a guest drops the one who lapsed and completes the round', async () => {
  const { room, host, voters, guests } = await withGuests()
  for (const voter of [host, ...voters]) await voter.vote(room, '5')
  await expire(guests[0])
  await guests[1].vote(room, '8')
  expect((await lastEvents(world, room, 3)).map(({ type }) => type)).toEqual([
    'VoteCast',
    'RoundVotersChanged',
    'RoundRevealed',
  ])
  expect((await host.room(room, TABLE)).poker).toMatchObject({
    revealed: true,
    currentStory: { result: { counted: 3 } },
  })
})

it('ROOM-68, ROOM-76 a guest of a revoked link is not waited for; their vote counts', async () => {
  const { room, host, voters, guests } = await withGuests()
  await guests[0].vote(room, '8')
  for (const guest of guests) await revoke(guest)
  await host.vote(room, '5')
  expect(idsOf((await host.room(room, TABLE)).poker.waitingFor)).toEqual(idsOf(voters))
  await voters[0]!.vote(room, '5')
  expect((await host.room(room, TABLE)).poker).toMatchObject({
    revealed: true,
    currentStory: { result: { counted: 3 } },
  })
  expect((await snapshotOf(room)).sort()).toEqual(uuidsOf([host, ...voters]))
})

it('ROOM-68 somebody removed from the space loses the place at once, in rounds not revealed alone', async () => {
  const space = await world.space()
  const { room, host, voters, stories } = await world.pokerRoom({ space, voters: 2, stories: 3, openVoting: true })
  const [gone, other] = voters as [Actor, Actor]
  const rowsOf = (person: Actor) =>
    world.sql<{ story_id: string }>('SELECT story_id FROM rooms.round_voters WHERE user_id = $1 ORDER BY story_id', [
      person.userId,
    ])
  await open(host, room, stories[1]!)
  await host.reveal(room)
  await open(host, room, stories[2]!)
  await open(host, room, stories[0]!)
  await gone.vote(room, '5')
  expect(await rowsOf(gone)).toHaveLength(3)

  await world.owner.mutate('spaceMemberRemove', { id: space.id, userId: gone.id })
  expect(await rowsOf(gone)).toEqual([{ story_id: uuidOf(stories[1]!) }])
  expect(await snapshotOf(room)).toEqual(uuidsOf([host, other]))
  expect((await host.room(room, TABLE)).poker.votedUserIds).toEqual([gone.id])
  expect(await gone.vote(room, '8')).toMatchObject({ code: 'NOT_FOUND' })
})

it('ROOM-66 everybody who was waited for is gone: the round does not complete by itself', async () => {
  const space = await world.space()
  const { room, host, voters } = await world.pokerRoom({ space, voters: 1, openVoting: true, autoReveal: true })
  await reset(host, room)
  const late = await world.member({ space })
  await world.attend(room, late)
  await late.vote(room, '5')
  for (const person of [host, ...voters]) await person.mutate('spaceLeave', { id: space.id })
  expect(await snapshotOf(room)).toEqual([])
  expect((await late.room(room, TABLE)).poker).toMatchObject({ revealed: false, waitingFor: [] })
})

it('ROOM-67 whoever came later and voted changes what the round waits for in nothing', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1, openVoting: true, autoReveal: true })
  await reset(host, room)
  const late = await world.guest(room)
  await world.attend(room, late)
  for (const voter of [host, late]) await voter.vote(room, '5')
  expect((await host.room(room, TABLE)).poker).toMatchObject({ revealed: false, waitingFor: [{ id: voters[0]!.id }] })
  await voters[0]!.vote(room, '5')
  expect((await host.room(room, TABLE)).poker.currentStory.result.counted).toBe(3)
})

it('ROOM-21, ROOM-68 a spectator stays one over new rounds and a reconnect, and is skipped with the vote withdrawn', async () => {
  const space = await world.space()
  const { room, host, voters, stories } = await world.pokerRoom({ space, voters: 2, stories: 2, openVoting: true })
  const [watcher, other] = voters as [Actor, Actor]
  await reset(host, room)
  await watcher.vote(room, '5')
  expect(await watcher.mutate('spaceSpectatorSet', { id: space.id, spectator: true }, 'voteWithdrawn')).toMatchObject({
    voteWithdrawn: true,
  })
  const round = async () => (await host.room(room, TABLE)).poker
  expect(idsOf((await round()).waitingFor)).toEqual(idsOf([host, other]))
  await open(host, room, stories[1]!)
  await world.depart(room, watcher)
  await watcher.mutate('roomHeartbeat', { roomId: room.id, connectionId: crypto.randomUUID() })
  expect(idsOf((await round()).waitingFor)).toEqual(idsOf([host, other]))
  expect(await watcher.vote(room, '5')).toMatchObject({ code: 'FORBIDDEN' })
  await open(host, room, stories[0]!)
  // The first story's list kept their row.
  await watcher.mutate('spaceSpectatorSet', { id: space.id, spectator: false })
  expect(idsOf((await round()).waitingFor)).toEqual(idsOf([host, other, watcher]))
  expect(await watcher.vote(room, '5')).toMatchObject({ myCard: '5' })
})
