import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { answer, commit, openOf } from './follow-through.ts'
import { standup } from './standup-circle.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

/** Two standups of one space, with a member who takes part in both. */
async function twoStandups() {
  const space = await world.space()
  const first = await standup(world, { space, people: 1 })
  const second = await standup(world, { space, host: first.host })
  return { space, host: first.host, person: first.people[0]!, first: first.room, second: second.room }
}

it('ROOM-100, ROOM-101 a commitment is open, of its person and space, the oldest first', async () => {
  const { space, person, first, second, host } = await twoStandups()
  const one = await commit(person, first, ' One ')
  const two = await commit(person, second, 'Two')
  await commit(host, first, 'Another’s')
  expect(one.commitment).toMatchObject({
    text: 'One',
    carried: 0,
    stuck: false,
    openedRoom: { id: first.id },
    closedAt: null,
    user: { id: person.id },
  })
  expect((await openOf(person, space)).map(({ id }: { id: string }) => id)).toEqual([
    one.commitment.id,
    two.commitment.id,
  ])
})

it('ROOM-102, ROOM-103 not yet counts once a standup, also for No, Change, No and for two calls at once', async () => {
  const { space, person, first, second } = await twoStandups()
  const { commitment } = await commit(person, first)
  await answer(person, commitment.id, first, 'NOT_YET')
  await answer(person, commitment.id, first, 'LANDED')
  await answer(person, commitment.id, first, 'NOT_YET')
  expect(await openOf(person, space)).toMatchObject([{ carried: 1, stuck: false }])
  await Promise.all([1, 2, 3].map(() => answer(person, commitment.id, second, 'NOT_YET')))
  expect(await openOf(person, space)).toMatchObject([{ carried: 2, stuck: true }])
})

it('ROOM-102, ROOM-105 landed is not dropped, and neither touches the count', async () => {
  const { space, person, first, second } = await twoStandups()
  const { commitment } = await commit(person, first)
  await answer(person, commitment.id, first, 'NOT_YET')
  const dropped = await answer(person, commitment.id, second, 'DROPPED')
  expect(dropped.commitment).toMatchObject({ closedReason: 'DROPPED', carried: 1, stuck: false })
  const landed = await answer(person, commitment.id, second, 'LANDED')
  expect(landed.commitment).toMatchObject({ closedReason: 'LANDED', carried: 1 })
  expect(await openOf(person, space)).toEqual([])
  const rows = await world.sql(
    'SELECT carried_room_id, closed_room_id FROM rooms.standup_commitments WHERE space_id = $1',
    [space.uuid],
  )
  expect(rows).toEqual([{ carried_room_id: first.uuid, closed_room_id: second.uuid }])
})

it('ROOM-104 an answer changes where it was given, and elsewhere not any more', async () => {
  const { person, host, first, second } = await twoStandups()
  const { commitment } = await commit(person, first)
  await answer(person, commitment.id, first, 'LANDED')
  expect(await answer(person, commitment.id, second, 'DROPPED')).toMatchObject({ code: 'CONFLICT' })
  await host.mutate('roomEnd', { roomId: first.id })
  expect(await answer(person, commitment.id, first, 'NOT_YET')).toMatchObject({ code: 'ROOM_ENDED' })
  await host.mutate('roomReopen', { roomId: first.id })
  expect((await answer(person, commitment.id, first, 'NOT_YET')).commitment).toMatchObject({
    closedAt: null,
    carried: 1,
  })
  expect(await world.facts({ room: first })).toEqual(
    expect.arrayContaining(['commitment.added', 'commitment.landed', 'commitment.reopened']),
  )
})

it('ROOM-4, ROOM-102 the same answer again changes nothing', async () => {
  const { person, first } = await twoStandups()
  const { commitment } = await commit(person, first)
  const said = await answer(person, commitment.id, first, 'NOT_YET')
  const again = await answer(person, commitment.id, first, 'NOT_YET')
  expect(again.room.version).toBe(said.room.version)
})

it('ROOM-106 deleting a room clears where it was, and nothing else', async () => {
  const { space, person, host, first, second } = await twoStandups()
  const open = (await commit(person, first, 'Open')).commitment
  const closed = (await commit(person, first, 'Closed')).commitment
  await answer(person, open.id, first, 'NOT_YET')
  await answer(person, closed.id, first, 'LANDED')
  await host.mutate('roomDelete', { id: first.id })
  expect(await openOf(person, space)).toEqual([
    { id: open.id, text: 'Open', carried: 1, stuck: false, openedRoom: null },
  ])
  const { commitments } = await person.run(
    'query ($id: ID!) { commitments(spaceId: $id, open: false) { nodes { id closedReason } } }',
    { id: space.id },
  )
  expect(commitments.nodes).toEqual([{ id: closed.id, closedReason: 'LANDED' }])
  expect((await answer(person, open.id, second, 'LANDED')).commitment).toMatchObject({ closedReason: 'LANDED' })
})

it('ROOM-100 at most 50 are open, also when the fiftieth is said in two standups at once', async () => {
  const { space, person, first, second } = await twoStandups()
  for (let at = 0; at < 49; at++) await commit(person, first, `Number ${at}`)
  const said = await Promise.all([commit(person, first), commit(person, second), commit(person, second)])
  expect(said.filter(({ commitment }) => commitment)).toHaveLength(1)
  expect(said.filter(({ code, limit }) => code === 'LIMIT_REACHED' && limit === 50)).toHaveLength(2)
  expect(await openOf(person, space)).toHaveLength(50)
})

it('ROOM-6, ROOM-22, ROOM-102 nobody answers another’s, and outside the space it is not there', async () => {
  const { space, person, host, first } = await twoStandups()
  const { commitment } = await commit(person, first)
  expect(await answer(host, commitment.id, first, 'LANDED')).toMatchObject({ code: 'FORBIDDEN' })
  const elsewhere = await twoStandups()
  expect(await answer(elsewhere.person, commitment.id, elsewhere.first, 'LANDED')).toMatchObject({
    code: 'NOT_FOUND',
    path: ['input', 'id'],
  })
  const guest = await world.guest(first)
  expect(await commit(guest, first)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await commit(await world.viewer({ space }), first)).toMatchObject({ code: 'FORBIDDEN' })
  expect((await commit(await world.agent({ space }), first)).commitment).toMatchObject({ carried: 0 })
  const admin = await world.member({ role: 'admin', space: null })
  for (const reader of [guest, elsewhere.person, admin, await world.otherOrg()]) {
    const seen = await reader.send(
      'query ($space: ID!, $id: ID!) { commitments(spaceId: $space) { nodes { id } } node(id: $id) { id } }',
      { space: space.id, id: commitment.id },
    )
    expect(JSON.stringify(seen.data?.['node'] ?? null)).toBe('null')
    expect(JSON.stringify(seen.data ?? null)).not.toContain(commitment.id)
  }
  const { room } = await world.pokerRoom({ space, host })
  expect(await commit(person, room)).toMatchObject({ code: 'WRONG_PHASE' })
})

it('ROOM-102 a commitment of somebody who is no member is refused by the database (MH022)', async () => {
  const { space } = await twoStandups()
  const outsider = await world.member()
  await expect(
    world.sql(`INSERT INTO rooms.standup_commitments (org_id, space_id, user_id, text) VALUES ($1, $2, $3, 'No')`, [
      space.orgId,
      space.uuid,
      outsider.userId,
    ]),
  ).rejects.toMatchObject({ code: 'MH022' })
})
