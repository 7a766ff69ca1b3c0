import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { startApp } from '../support/app.ts'
import { type SlotClock, slotClock } from '../support/slot-clock.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { roomOf, save, scheduled, slotsOf, untilArmed, untilSlots } from './schedule-team.ts'

const MONDAY_EIGHT = '2026-06-01T06:00:00Z' // in Berlin

let world: World
let clock: SlotClock
beforeAll(async () => {
  world = await createWorld(await startApp())
  clock = await slotClock(world, MONDAY_EIGHT)
})
afterAll(() => world?.close())
beforeEach(() => clock.set(MONDAY_EIGHT))

const factsOf = async (scheduleSpace: { uuid: string }) =>
  world.sql<{ event_type: string; payload: Record<string, unknown>; actor_kind: string }>(
    `SELECT event_type, payload, actor_kind FROM platform.audit_events WHERE space_id = $1 ORDER BY created_at, id`,
    [scheduleSpace.uuid],
  )

it('ROOM-120 keeps one schedule a space, stamped with who saved it last and counted up', async () => {
  const { owner, space, schedule } = await scheduled(world, { weekdays: [5, 1] })
  expect(schedule).toMatchObject({
    weekdays: [1, 5],
    openTime: '09:00',
    timezone: 'Europe/Berlin',
    updatedBy: { id: owner.id },
    nextOpenAt: '2026-06-01T07:00:00Z',
  })
  const other = await world.member({ space, spaceRole: 'owner' })
  const saved = await Promise.all([
    save(owner, space, { openTime: '10:00' }),
    save(other, space, { openTime: '11:00' }),
    save(other, space, { openTime: '12:00', enabled: false }),
  ])
  expect(saved.map(({ schedule }) => schedule.id)).toEqual(Array(3).fill(schedule.id))
  const rows = await world.sql('SELECT revision FROM rooms.standup_schedules WHERE space_id = $1', [space.uuid])
  expect(rows).toEqual([{ revision: 3 }])
  const facts = (await factsOf(space)).filter(({ event_type }) => event_type === 'standup.schedule_saved')
  expect(facts.map(({ payload }) => payload['revision']).sort()).toEqual([0, 1, 2, 3])
})

it('ROOM-4, ROOM-120 saving what is saved already changes nothing', async () => {
  const { owner, space } = await scheduled(world)
  await save(owner, space)
  expect(await world.sql('SELECT revision FROM rooms.standup_schedules WHERE space_id = $1', [space.uuid])).toEqual([
    { revision: 0 },
  ])
  expect(await factsOf(space)).toHaveLength(1)
})

it('ROOM-120, ROOM-121 refuses days, times, windows and zones that are none, each at its place', async () => {
  const { owner, space } = await scheduled(world)
  for (const [settings, path] of [
    [{ weekdays: [] }, 'weekdays'],
    [{ weekdays: [1, 1] }, 'weekdays'],
    [{ openTime: '24:00' }, 'openTime'],
    [{ openTime: '9:00' }, 'openTime'],
    [{ openTime: '09:00:30' }, 'openTime'],
    [{ timezone: '+02:00' }, 'timezone'],
    [{ timezone: 'Europe/Nowhere' }, 'timezone'],
    [{ timezone: '' }, 'timezone'],
    [{ windowMinutes: 0 }, 'windowMinutes'],
    [{ windowMinutes: 1441 }, 'windowMinutes'],
  ] as const) {
    const refused = await save(owner, space, settings as object)
    expect(refused, path).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['input', path] }] })
  }
  expect(await save(owner, space, { weekdays: [7] })).toMatchObject({ code: 'INVALID_INPUT' })
  expect((await save(owner, space, { timezone: 'eUROPE/bERLIN' })).schedule.timezone).toBe('Europe/Berlin')
})

it('ROOM-121 every zone on offer resolves in the runtime', async () => {
  const { timeZones } = await world.owner.run('{ timeZones }')
  expect(timeZones.length).toBeGreaterThan(400)
  for (const zone of timeZones) expect(() => new Intl.DateTimeFormat('en', { timeZone: zone }), zone).not.toThrow()
  expect(timeZones).toEqual(expect.arrayContaining(['Asia/Tokyo', 'Australia/Lord_Howe', 'UTC']))
})

it('ROOM-124 opens a standup at its minute, with the window, and arms the next day', async () => {
  const { owner, space, scheduleId } = await scheduled(world)
  await clock.set('2026-06-01T06:59:59Z')
  await untilArmed(world, scheduleId)
  expect(await slotsOf(world, scheduleId)).toEqual([])

  await clock.set('2026-06-01T07:00:00Z')
  const [slot] = await untilSlots(world, scheduleId, 1)
  expect(slot).toMatchObject({ date: '2026-06-01', outcome: 'opened' })
  const room = await owner.room(
    roomOf(slot!),
    'title kind phase facilitator { id } standup { async slotDate closesAt entries { userId } }',
  )
  expect(room).toEqual({
    title: 'Standup 2026-06-01',
    kind: 'standup',
    phase: 'gather',
    facilitator: { id: owner.id },
    standup: { async: true, slotDate: '2026-06-01', closesAt: '2026-06-01T08:00:00Z', entries: [] },
  })
  const facts = await factsOf(space)
  expect(facts.map(({ event_type, actor_kind }) => `${event_type} ${actor_kind}`)).toEqual([
    'standup.schedule_saved human',
    'room.created system',
    'standup.opened system',
  ])
  const { space: seen } = await owner.run(
    `query ($id: ID!) { space(id: $id) { schedule { nextOpenAt slots(first: 5) { totalCount
      nodes { slotDate outcome opensAt closesAt room { id } } } } } }`,
    { id: space.id },
  )
  expect(seen.schedule).toEqual({
    nextOpenAt: '2026-06-02T07:00:00Z',
    slots: {
      totalCount: 1,
      nodes: [
        {
          slotDate: '2026-06-01',
          outcome: 'OPENED',
          opensAt: '2026-06-01T07:00:00Z',
          closesAt: '2026-06-01T08:00:00Z',
          room: { id: roomOf(slot!).id },
        },
      ],
    },
  })
})

it('ROOM-124, ROOM-127 the next slot closes the standup before it, a reopened one too', async () => {
  const { owner, scheduleId } = await scheduled(world, { windowMinutes: 1440 })
  await clock.set('2026-06-01T07:00:00Z')
  const [first] = await untilSlots(world, scheduleId, 1)
  await owner.mutate('roomEnd', { roomId: roomOf(first!).id })
  await owner.mutate('roomReopen', { roomId: roomOf(first!).id })
  await clock.set('2026-06-02T07:00:01Z')
  const [, second] = await untilSlots(world, scheduleId, 2)
  expect((await owner.room(roomOf(first!), 'phase')).phase).toBe('done')
  expect((await owner.room(roomOf(second!), 'phase')).phase).toBe('gather')
})

it('ROOM-127 closes when its window ends, and stays open when it is reopened after that', async () => {
  const { owner, space, scheduleId } = await scheduled(world)
  await clock.set('2026-06-01T07:00:00Z')
  const [slot] = await untilSlots(world, scheduleId, 1)
  await clock.set('2026-06-01T08:00:00Z')
  const room = roomOf(slot!)
  await vi.waitFor(async () => expect((await owner.room(room, 'phase')).phase).toBe('done'), 15_000)

  await owner.mutate('roomReopen', { roomId: room.id })
  expect(await owner.room(room, 'phase standup { closesAt }')).toEqual({ phase: 'gather', standup: { closesAt: null } })
  await owner.mutate('roomEnd', { roomId: room.id })
  const closed = (await factsOf(space)).filter(({ event_type }) => event_type === 'standup.closed')
  expect(closed).toMatchObject([
    { actor_kind: 'system', payload: { slotDate: '2026-06-01', answered: 0, eligible: 1 } },
  ])
})

it('ROOM-126 opens late inside the window with the same end, and misses a day whose window has passed', async () => {
  const { owner, space, scheduleId } = await scheduled(world)
  await clock.set('2026-06-04T07:59:59Z') // three days later, a second before the window of that day ends
  const slots = await untilSlots(world, scheduleId, 4)
  expect(slots.map(({ date, outcome }) => `${date} ${outcome}`)).toEqual([
    '2026-06-01 missed',
    '2026-06-02 missed',
    '2026-06-03 missed',
    '2026-06-04 opened',
  ])
  expect((await owner.room(roomOf(slots[3]!), 'standup { closesAt }')).standup.closesAt).toBe('2026-06-04T08:00:00Z')
  const skipped = (await factsOf(space)).filter(({ event_type }) => event_type === 'standup.skipped')
  expect(skipped.map(({ payload }) => payload)).toEqual(
    ['01', '02', '03'].map((day) => ({ slotDate: `2026-06-${day}`, reason: 'missed' })),
  )
})

it('ROOM-123 toggling or editing after the open time opens nothing that day', async () => {
  const { owner, space, scheduleId } = await scheduled(world, { enabled: false })
  await clock.set('2026-06-01T07:00:01Z')
  const enabled = await save(owner, space, { enabled: true })
  expect(enabled.schedule.nextOpenAt).toBe('2026-06-02T07:00:00Z')
  const edited = await save(owner, space, { openTime: '08:59' })
  expect(edited.schedule.nextOpenAt).toBe('2026-06-02T06:59:00Z')
  await untilArmed(world, scheduleId)
  expect(await slotsOf(world, scheduleId)).toEqual([])
})

it('ROOM-124 a second time on a day that has had its slot opens nothing', async () => {
  const { owner, space, scheduleId } = await scheduled(world)
  await clock.set('2026-06-01T07:00:00Z')
  await untilSlots(world, scheduleId, 1)
  await save(owner, space, { openTime: '15:00' })
  await clock.set('2026-06-01T13:00:00Z')
  await untilArmed(world, scheduleId)
  expect(await slotsOf(world, scheduleId)).toHaveLength(1)
  const rooms = await world.sql('SELECT 1 FROM rooms.rooms WHERE space_id = $1', [space.uuid])
  expect(rooms).toHaveLength(1)
})

it('ROOM-126 deleting the room of a slot does not open the day again', async () => {
  const { owner, space, scheduleId } = await scheduled(world)
  await clock.set('2026-06-01T07:00:00Z')
  const [slot] = await untilSlots(world, scheduleId, 1)
  expect(await owner.mutate('roomDelete', { id: roomOf(slot!).id })).toMatchObject({ __typename: 'RoomDeletePayload' })
  await world.sql(`UPDATE rooms.standup_schedules SET next_open_at = '2026-06-01T07:00:00Z' WHERE space_id = $1`, [
    space.uuid,
  ])
  await clock.set('2026-06-01T07:30:00Z')
  await untilArmed(world, scheduleId)
  expect(await slotsOf(world, scheduleId)).toMatchObject([{ outcome: 'opened', room_id: null }])
  expect(await world.sql('SELECT 1 FROM rooms.rooms WHERE space_id = $1', [space.uuid])).toEqual([])
})

it('ROOM-127 a change of the window holds from the next slot', async () => {
  const { owner, space, scheduleId } = await scheduled(world)
  await clock.set('2026-06-01T07:00:00Z')
  const [slot] = await untilSlots(world, scheduleId, 1)
  await save(owner, space, { windowMinutes: 10 })
  expect((await owner.room(roomOf(slot!), 'standup { closesAt }')).standup.closesAt).toBe('2026-06-01T08:00:00Z')
  await clock.set('2026-06-02T07:00:00Z')
  const [, next] = await untilSlots(world, scheduleId, 2)
  expect((await owner.room(roomOf(next!), 'standup { closesAt }')).standup.closesAt).toBe('2026-06-02T07:10:00Z')
})

it('ROOM-125 whoever saved it leads while they own the space, then the owner seen latest; nobody: skipped once', async () => {
  const { owner, space, scheduleId } = await scheduled(world)
  const [early, late] = [
    await world.member({ space, spaceRole: 'owner' }),
    await world.member({ space, spaceRole: 'owner' }),
  ]
  const seenAt = (who: { userId: string }, at: string) =>
    world.sql('UPDATE rooms.space_members SET last_seen_at = $3 WHERE space_id = $1 AND user_id = $2', [
      space.uuid,
      who.userId,
      at,
    ])
  await seenAt(early, '2026-01-01T00:00:00Z')
  await seenAt(late, '2026-02-01T00:00:00Z')
  await early.mutate('spaceMemberRemove', { id: space.id, userId: owner.id })

  await clock.set('2026-06-01T07:00:00Z')
  const [first] = await untilSlots(world, scheduleId, 1)
  expect((await late.room(roomOf(first!), 'facilitator { id }')).facilitator).toEqual({ id: late.id })
  await late.mutate('standupEntryPut', { roomId: roomOf(first!).id, today: 'Write' })
  await late.mutate('roomEnd', { roomId: roomOf(first!).id })
  const [closed] = (await factsOf(space)).filter(({ event_type }) => event_type === 'standup.closed')
  expect(closed!.payload).toMatchObject({ answered: 1, eligible: 2 })

  for (const { userId } of [early, late]) {
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [userId])
  }
  await clock.set('2026-06-02T07:00:00Z')
  const [, second] = await untilSlots(world, scheduleId, 2)
  expect(second).toMatchObject({ outcome: 'no_owner', room_id: null })
  const skipped = (await factsOf(space)).filter(({ event_type }) => event_type === 'standup.skipped')
  expect(skipped.map(({ payload }) => payload)).toEqual([{ slotDate: '2026-06-02', reason: 'no_owner' }])
})

it('ROOM-125 an org that is not active opens nothing, and its slots pass as missed', async () => {
  const { owner, space, scheduleId } = await scheduled(world)
  const away = await world.otherOrg()
  const elsewhere = await save(away, away.space)
  await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [away.orgId])
  await clock.set('2026-06-01T07:00:00Z')
  await untilSlots(world, scheduleId, 1)
  expect(await slotsOf(world, elsewhere.schedule.id)).toEqual([])

  await world.sql(`UPDATE identity.orgs SET status = 'active', archived_at = NULL WHERE id = $1`, [away.orgId])
  await clock.set('2026-06-01T08:00:00Z')
  expect(await untilSlots(world, elsewhere.schedule.id, 1)).toMatchObject([{ outcome: 'missed' }])
  expect(owner.orgId).not.toBe(away.orgId)
  expect(space.orgId).not.toBe(away.orgId)
})

it('ROOM-122, ROOM-128 the day is the team’s: Tokyo’s tomorrow is another’s today', async () => {
  const { owner, scheduleId } = await scheduled(world, { timezone: 'Asia/Tokyo', openTime: '08:00' })
  await clock.set('2026-06-01T23:00:00Z') // eight on Tuesday in Tokyo
  const [slot] = await untilSlots(world, scheduleId, 1)
  expect(slot).toMatchObject({ date: '2026-06-02', opens_at: '2026-06-01 23:00:00+00' })
  expect((await owner.room(roomOf(slot!), 'title')).title).toBe('Standup 2026-06-02')
})

it('ROOM-120 is for the owners who act for themselves', async () => {
  const { owner, space } = await scheduled(world)
  const refusals = await Promise.all(
    [
      await world.member({ space }),
      await world.viewer({ space }),
      await world.anonymous({ space }),
      await world.agent({ space }),
      await world.embedded(owner),
    ].map((person) => save(person, space, { enabled: false })),
  )
  expect(refusals.map(({ code }) => code)).toEqual(Array(5).fill('FORBIDDEN'))
  for (const stranger of [await world.outsider(), await world.otherOrg(), world.owner]) {
    expect(await save(stranger, space, { enabled: false })).toMatchObject({
      code: 'NOT_FOUND',
      path: ['input', 'spaceId'],
    })
  }
  const { space: seen } = await world.owner.run('query ($id: ID!) { space(id: $id) { schedule { id } } }', {
    id: space.id,
  })
  expect(seen).toBeNull()
})

it('ROOM-124 writes of a slot cannot be changed, but by its room going (MH008)', async () => {
  const { scheduleId } = await scheduled(world)
  await clock.set('2026-06-01T07:00:00Z')
  await untilSlots(world, scheduleId, 1)
  for (const change of [`outcome = 'missed'`, `slot_date = '2026-06-09'`, 'room_id = platform.new_id()']) {
    await expect(
      world.sql(`UPDATE rooms.standup_schedule_slots SET ${change} WHERE schedule_id = $1`, [uuidOf(scheduleId)]),
    ).rejects.toMatchObject({ code: 'MH008' })
  }
})

it('ROOM-124 what fails is tried again, later each time, until the window has passed', async () => {
  const { space, scheduleId } = await scheduled(world)
  await world.sql(
    `CREATE OR REPLACE FUNCTION rooms.test_fault() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN IF NEW.space_id = '${space.uuid}' THEN RAISE EXCEPTION 'fault'; END IF; RETURN NEW; END $$`,
  )
  await world.sql(
    'CREATE TRIGGER test_fault BEFORE INSERT ON rooms.rooms FOR EACH ROW EXECUTE FUNCTION rooms.test_fault()',
  )
  try {
    const paused = async () => {
      const [row] = await world.sql<{ pause: number }>(
        `SELECT extract(epoch FROM locked_until - now())::float AS pause FROM rooms.standup_schedules WHERE space_id = $1
         AND locked_by IS NOT NULL AND locked_until < now() + interval '58 seconds' AND locked_until > now()`,
        [space.uuid],
      )
      if (!row) throw new Error('not tried yet')
      return row.pause
    }
    await clock.set('2026-06-01T07:00:00Z')
    expect(await vi.waitFor(paused, 15_000)).toBeLessThanOrEqual(6)
    expect(await slotsOf(world, scheduleId)).toEqual([])
    // Half a minute late, it waits for half a minute more.
    await world.sql('UPDATE rooms.standup_schedules SET locked_until = now() WHERE space_id = $1', [space.uuid])
    await clock.set('2026-06-01T07:00:30Z')
    expect(await vi.waitFor(paused, 15_000)).toBeGreaterThan(20)
  } finally {
    await world.sql('DROP TRIGGER test_fault ON rooms.rooms')
  }
  await world.sql('UPDATE rooms.standup_schedules SET locked_until = now() WHERE space_id = $1', [space.uuid])
  await clock.set('2026-06-01T08:00:00Z')
  expect(await untilSlots(world, scheduleId, 1)).toMatchObject([{ outcome: 'missed' }])
})
