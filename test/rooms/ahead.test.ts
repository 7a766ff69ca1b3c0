import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Actor, Outcome } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { type SlotClock, slotClock } from '../support/slot-clock.ts'
import { createWorld, type TestSpace, uuidOf, type World } from '../support/world.ts'
import { roomOf, save, scheduled, untilSlots } from './schedule-team.ts'

const MONDAY_EIGHT = '2026-06-01T06:00:00Z' // in Berlin

let world: World
let clock: SlotClock
beforeAll(async () => {
  world = await createWorld(await startApp())
  clock = await slotClock(world, MONDAY_EIGHT)
})
afterAll(() => world?.close())
beforeEach(() => clock.set(MONDAY_EIGHT))

const ENTRY = 'day yesterday today blockers'
const put = (person: Actor, scheduleId: string, day: string, text: object = { today: 'Write' }): Promise<Outcome> =>
  person.mutate('standupAheadPut', { scheduleId, day, ...text }, `aheadEntry { ${ENTRY} }`)
const own = async (person: Actor, space: TestSpace) =>
  (await person.run(`query ($id: ID!) { myAhead(spaceId: $id) { ${ENTRY} } }`, { id: space.id })).myAhead

it('ROOM-129 takes an answer for a slot of the schedule that has not opened, at most a week ahead', async () => {
  const { space, owner, scheduleId } = await scheduled(world, { weekdays: [1, 3] })
  const member = await world.member({ space })
  for (const day of ['2026-06-01', '2026-06-03', '2026-06-08']) {
    expect(await put(member, scheduleId, day)).toMatchObject({ aheadEntry: { day, today: 'Write' } })
  }
  for (const day of ['2026-06-02', '2026-06-10', '2026-05-27', '2027-06-02']) {
    expect(await put(member, scheduleId, day), day).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'day'] }],
    })
  }
  expect((await own(member, space)).map(({ day }: { day: string }) => day)).toEqual([
    '2026-06-01',
    '2026-06-03',
    '2026-06-08',
  ])
  await clock.set('2026-06-01T07:00:00Z')
  await untilSlots(world, scheduleId, 1)
  expect(await put(member, scheduleId, '2026-06-01')).toMatchObject({ code: 'INVALID_INPUT' })
  await save(owner, space, { enabled: false })
  expect(await put(member, scheduleId, '2026-06-03')).toMatchObject({ code: 'INVALID_INPUT' })
})

it('ROOM-123, ROOM-129 takes none for a day that an edit after its time has dropped', async () => {
  const { space, owner, scheduleId } = await scheduled(world)
  await clock.set('2026-06-01T07:00:00Z')
  await world.sql('UPDATE rooms.standup_schedules SET locked_until = now() WHERE space_id = $1', [space.uuid])
  await untilSlots(world, scheduleId, 1)
  await save(owner, space, { openTime: '09:00', windowMinutes: 30 })
  expect(await put(owner, scheduleId, '2026-06-01')).toMatchObject({ code: 'INVALID_INPUT' })
  await save(owner, space, { openTime: '23:00' })
  expect(await put(owner, scheduleId, '2026-06-01')).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await put(owner, scheduleId, '2026-06-02')).toMatchObject({ aheadEntry: { day: '2026-06-02' } })
})

it('ROOM-129 keeps what is left out, and two at once leave one answer', async () => {
  const { space, scheduleId } = await scheduled(world)
  const member = await world.member({ space })
  await Promise.all([
    put(member, scheduleId, '2026-06-02', { yesterday: 'Read' }),
    put(member, scheduleId, '2026-06-02', { today: 'Write' }),
    put(member, scheduleId, '2026-06-02', { blockers: 'Rain' }),
  ])
  expect(await own(member, space)).toEqual([{ day: '2026-06-02', yesterday: 'Read', today: 'Write', blockers: 'Rain' }])
})

it('ROOM-129 the answer is its author’s alone, and becomes the entry when the day opens', async () => {
  const { space, owner, scheduleId } = await scheduled(world)
  const [author, watcher, leaver, other] = await Promise.all([
    world.member({ space }),
    world.member({ space }),
    world.member({ space }),
    world.member({ space }),
  ])
  for (const person of [author, watcher, leaver]) await put(person, scheduleId, '2026-06-01', { today: 'Secret' })
  for (const reader of [owner, other, world.owner, await world.adminKey()]) {
    const answer = await reader.send(
      `query ($id: ID!) { myAhead(spaceId: $id) { today } space(id: $id) {
      schedule { id slots(first: 9) { nodes { slotDate } } } } auditEvents(first: 100) { nodes { payload } } }`,
      {
        id: space.id,
      },
    )
    expect(JSON.stringify(answer)).not.toContain('Secret')
  }
  await watcher.mutate('spaceSpectatorSet', { id: space.id, spectator: true })
  await leaver.mutate('spaceLeave', { id: space.id })

  await clock.set('2026-06-01T07:00:00Z')
  const [slot] = await untilSlots(world, scheduleId, 1)
  const room = await other.room(roomOf(slot!), 'standup { entries { userId today answered } }')
  expect(room.standup.entries).toEqual([{ userId: author.id, today: 'Secret', answered: true }])
  expect(await own(author, space)).toEqual([])
  const left = await world.sql('SELECT user_id FROM rooms.standup_ahead_entries WHERE schedule_id = $1', [
    uuidOf(scheduleId),
  ])
  expect(left.map(({ user_id }) => user_id).sort()).toEqual([watcher.userId, leaver.userId].sort())
})

it('ROOM-129 whoever watches answers nothing, and whoever is outside finds no schedule', async () => {
  const { space, scheduleId } = await scheduled(world)
  const watcher = await world.member({ space, spectator: true })
  expect(await put(watcher, scheduleId, '2026-06-02')).toMatchObject({ code: 'FORBIDDEN' })
  expect(await put(await world.viewer({ space }), scheduleId, '2026-06-02')).toMatchObject({ code: 'FORBIDDEN' })
  for (const stranger of [await world.member(), await world.otherOrg(), world.owner]) {
    expect(await put(stranger, scheduleId, '2026-06-02')).toMatchObject({ code: 'NOT_FOUND' })
  }
})

it('ROOM-129 takes back, once, and only one’s own', async () => {
  const { space, scheduleId } = await scheduled(world)
  const [author, other] = [await world.member({ space }), await world.member({ space })]
  await put(author, scheduleId, '2026-06-02')
  const input = { scheduleId, day: '2026-06-02' }
  expect(await other.mutate('standupAheadDelete', input, 'day')).toMatchObject({ day: '2026-06-02' })
  expect(await own(author, space)).toHaveLength(1)
  expect(await author.mutate('standupAheadDelete', input, 'day')).toMatchObject({ day: '2026-06-02' })
  expect(await own(author, space)).toEqual([])
  const facts = await world.sql(
    `SELECT payload, private_user_id FROM platform.audit_events
     WHERE event_type = 'standup.ahead_saved' AND actor_user_id = ANY ($1)`,
    [[author.userId, other.userId]],
  )
  expect(facts).toEqual(Array(2).fill({ payload: {}, private_user_id: author.userId }))
})

it('ROOM-129 what was not used is swept a week after its day', async () => {
  const { space, scheduleId } = await scheduled(world)
  const watcher = await world.member({ space })
  await put(watcher, scheduleId, '2026-06-01')
  await put(watcher, scheduleId, '2026-06-02')
  await clock.set('2026-06-09T06:00:00Z')
  await world.sql('SELECT rooms.maint_prune_ahead_entries(100)')
  const days = await world.sql('SELECT day::text FROM rooms.standup_ahead_entries WHERE schedule_id = $1', [
    uuidOf(scheduleId),
  ])
  expect(days).toEqual([{ day: '2026-06-02' }])
})
