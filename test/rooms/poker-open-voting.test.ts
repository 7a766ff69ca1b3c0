import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { idsOf, lastEvents, open, reset, TABLE } from './poker-table.ts'

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

it('ROOM-67 waits for the participants of its opening, present or not; later joiners count and are not waited for', async () => {
  const { room, host, voters, stories } = await world.pokerRoom({
    stories: 2,
    voters: 2,
    openVoting: true,
    autoReveal: true,
  })
  await world.depart(room, voters[0]!)
  const absent = await world.member()
  await open(host, room, stories[1]!)
  expect(await snapshotOf(room)).toEqual(uuidsOf([host, ...voters]))

  await world.attend(room, absent)
  await absent.vote(room, '13')
  await host.vote(room, '5')
  await voters[1]!.vote(room, '5')
  const shown = (await host.room(room, TABLE)).poker
  expect(shown).toMatchObject({ revealed: false, waitingFor: [{ id: voters[0]!.id }] })
  await voters[0]!.vote(room, '5')
  expect((await host.room(room, TABLE)).poker).toMatchObject({
    revealed: true,
    currentStory: { result: { counted: 4 } },
  })
})

it('ROOM-67 select and reset rebuild it: who is no participant goes, who came meanwhile is added', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 2, openVoting: true })
  await reset(host, room)
  expect(await snapshotOf(room)).toEqual(uuidsOf([host, ...voters]))

  const late = await world.member()
  await world.attend(room, late)
  await world.sql('DELETE FROM rooms.room_participants WHERE user_id = $1', [voters[0]!.userId])
  const outcome = await reset(host, room)
  expect(await snapshotOf(room)).toEqual(uuidsOf([host, voters[1]!, late]))
  expect(idsOf(outcome['room'].poker.waitingFor)).toEqual(idsOf([host, voters[1]!, late]))
  expect((await lastEvents(world, room, 1))[0]!.payload['waitingForIds']).toEqual(uuidsOf([host, voters[1]!, late]))
})

it('ROOM-68 spectators keep their row and are skipped; sitting down again restores the wait', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1, openVoting: true, autoReveal: true })
  const spectate = (on: boolean) =>
    world.sql('UPDATE rooms.space_members SET spectator = $2 WHERE user_id = $1', [voters[0]!.userId, on])
  await reset(host, room)
  await spectate(true)
  const round = async () => (await host.room(room, TABLE)).poker
  expect(idsOf((await round()).waitingFor)).toEqual([host.id])
  // Also over a new round; a spectator who was never waited for does not come in.
  await world.attend(room, await world.member({ spectator: true }))
  await reset(host, room)
  expect(await snapshotOf(room)).toEqual(uuidsOf([host, voters[0]!]))

  await spectate(false)
  expect(idsOf((await round()).waitingFor)).toEqual(idsOf([host, voters[0]!]))
  await host.vote(room, '5')
  expect(await round()).toMatchObject({ revealed: false })
  await voters[0]!.vote(room, '5')
  expect(await round()).toMatchObject({ revealed: true })
})

it('ROOM-67 is of 200 people: the facilitator, then the most recent joiners', async () => {
  const { room, host } = await world.pokerRoom({ openVoting: true })
  await world.sql(
    `WITH people AS (
       INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
       SELECT platform.new_id(), 'human', 'anonymous', $1, 'Voter ' || n, 'active' FROM generate_series(1, 210) AS n
       RETURNING id, display_name
     ), members AS (
       INSERT INTO rooms.space_members (org_id, space_id, user_id) SELECT $1, $2, id FROM people
     )
     INSERT INTO rooms.room_participants (org_id, room_id, user_id, joined_at)
     SELECT $1, $3, id, now() + split_part(display_name, ' ', 2)::int * interval '1 second' FROM people`,
    [room.orgId, uuidOf(room.spaceId), room.uuid],
  )
  await reset(host, room)
  const names = await world.sql<{ display_name: string }>(
    `SELECT u.display_name FROM rooms.round_voters AS w JOIN identity.users AS u ON u.id = w.user_id
     WHERE w.room_id = $1 AND w.user_id <> $2`,
    [room.uuid, host.userId],
  )
  expect(names.map(({ display_name }) => Number(display_name.split(' ')[1])).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 199 }, (_, at) => at + 12),
  )
  expect(await snapshotOf(room)).toContain(host.userId)

  await reset(host, room)
  expect(await snapshotOf(room)).toHaveLength(200)
})

it('ROOM-68 a closed round never touches the table of those waited for', async () => {
  const { room, host, stories } = await world.pokerRoom({ stories: 2, voters: 1 })
  await open(host, room, stories[1]!)
  await reset(host, room)
  expect(await snapshotOf(room)).toEqual([])
})
