import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freezePastDays } from '../../src/rooms/trend/freeze-past-days.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { type App, startApp } from '../support/app.ts'
import { type SlotClock, slotClock } from '../support/slot-clock.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'
import { isAway, scheduledStandup } from './scheduled-standup.ts'
import { put, standup } from './standup-circle.ts'

const NOON = '2026-06-03T10:00:00Z' // in Berlin; a Wednesday
const TODAY = '2026-06-03'

let app: App
let world: World
let clock: SlotClock
beforeAll(async () => {
  app = await startApp()
  world = await createWorld(app)
  clock = await slotClock(world, NOON)
})
afterAll(() => world?.close())
beforeEach(() => clock.set(NOON))

type Day = { room_id: string | null; space_id: string; day: string; eligible: number; answered: number }
const daysOf = ({ uuid }: TestSpace) =>
  world.sql<Day & Record<string, unknown>>(
    `SELECT room_id, space_id, day::text, eligible, answered FROM rooms.standup_trend_days WHERE space_id = $1 ORDER BY day`,
    [uuid],
  )
const end = (person: Actor, room: TestRoom) => person.mutate('roomEnd', { roomId: room.id })
const sweep = () => freezePastDays((work) => work())
const closedOf = async ({ uuid }: TestRoom) =>
  (
    await world.sql<{ payload: object }>(
      `SELECT payload FROM platform.audit_events WHERE room_id = $1 AND event_type = 'standup.closed'`,
      [uuid],
    )
  ).map(({ payload }) => payload)

/** A space whose owner and three members could all answer today; two of them did. */
async function answeredDay(date = TODAY) {
  const space = await world.space()
  const { room, host, people } = await scheduledStandup(world, { space, date, people: 2 })
  for (const person of people) await put(person, room, { today: 'Work' })
  return { space, room, host, people: people as [Actor, Actor] }
}
const FROZEN = { day: TODAY, eligible: 4, answered: 2 }

describe('ROOM-132, ROOM-133 a day', () => {
  it('is written as the standup ends: members who are no spectators and not away, and how many answered', async () => {
    const space = await world.space()
    const { room, host, people } = await scheduledStandup(world, { space, date: TODAY, people: 5 })
    const [answered, away, watcher, viewer, blank] = people as [Actor, Actor, Actor, Actor, Actor]
    const guest = await world.guest(room)
    for (const person of [answered, away, watcher, viewer, guest]) await put(person, room, { today: 'Work' })
    await put(blank, room, { today: '  ' })
    await world.sql('UPDATE rooms.space_members SET spectator = true WHERE user_id = $1', [watcher.userId])
    await world.sql(`UPDATE identity.memberships SET role = 'viewer' WHERE user_id = $1`, [viewer.userId])
    await isAway(world, away, TODAY)
    await isAway(world, blank, '2026-06-04')
    await isAway(world, host, '2026-06-02')
    expect(await daysOf(space)).toEqual([])

    await end(host, room)
    // The owner, the host, who answered, who left it blank.
    const figures = { eligible: 4, answered: 1 }
    expect(await daysOf(space)).toEqual([{ room_id: room.uuid, space_id: space.uuid, day: TODAY, ...figures }])
    expect(await closedOf(room)).toEqual([{ slotDate: TODAY, ...figures }])
  })

  it('counts whoever said only after local midnight that they were away', async () => {
    const space = await world.space()
    const { room, host, people } = await scheduledStandup(world, { space, date: TODAY, people: 2 })
    const [before, after] = people as [Actor, Actor]
    await isAway(world, before, TODAY, '2026-06-03T21:59:59Z')
    await isAway(world, after, TODAY, '2026-06-03T22:00:00Z')
    await end(host, room)
    expect(await daysOf(space)).toMatchObject([{ eligible: 3 }])
  })

  it('stays as it is when the standup is reopened, answered late and ended again, and in what people say later', async () => {
    const { space, room, host, people } = await answeredDay()
    await end(host, room)
    const frozen = await daysOf(space)
    expect(frozen).toMatchObject([FROZEN])

    await host.mutate('roomReopen', { roomId: room.id })
    expect((await put(host, room, { today: 'Late' })).entry).toMatchObject({ answered: true })
    await isAway(world, people[0], TODAY)
    await world.sql('UPDATE rooms.space_members SET spectator = true WHERE user_id = $1', [people[1].userId])
    await world.member({ space })
    await world.owner.mutate('spaceMemberRemove', { id: space.id, userId: people[0].id })
    await end(host, room)
    await clock.set('2026-06-09T10:00:00Z')
    await sweep()
    expect(await daysOf(space)).toEqual(frozen)
    expect(await closedOf(room)).toEqual([{ slotDate: TODAY, eligible: 4, answered: 2 }])
  })

  it('outlives its room, and goes with its space', async () => {
    const { space, room, host } = await answeredDay()
    await end(host, room)
    expect(await host.mutate('roomDelete', { id: room.id })).toMatchObject({ __typename: 'RoomDeletePayload' })
    expect(await daysOf(space)).toEqual([{ room_id: null, space_id: space.uuid, ...FROZEN }])
    await sweep()
    expect(await daysOf(space)).toHaveLength(1)
    await world.owner.mutate('spaceDelete', { id: space.id, confirmSlug: space.slug })
    expect(await daysOf(space)).toEqual([])
  })

  it('is none of a standup that people opened, nor of a poker room', async () => {
    const space = await world.space()
    const { room, host } = await standup(world, { space, people: 3 })
    const { room: poker, host: player } = await world.pokerRoom({ space })
    await end(host, room)
    await end(player, poker)
    await clock.set('2026-06-09T10:00:00Z')
    await sweep()
    expect(await daysOf(space)).toEqual([])
    // The owner, both hosts and three people.
    expect(await closedOf(room)).toEqual([{ slotDate: null, eligible: 6, answered: 0 }])
  })
})

describe('ROOM-132 the sweep', () => {
  it.each([
    ['Europe/Berlin', '2026-06-03T21:59:59Z', '2026-06-03T22:00:00Z'],
    ['Asia/Tokyo', '2026-06-03T14:59:59Z', '2026-06-03T15:00:00Z'],
    ['America/Los_Angeles', '2026-06-04T06:59:59Z', '2026-06-04T07:00:00Z'],
    ['Pacific/Kiritimati', '2026-06-03T09:59:59Z', '2026-06-03T10:00:00Z'],
  ])('freezes a standup that goes on once its day is over in %s', async (timezone, last, over) => {
    const space = await world.space()
    const { room, host, people } = await scheduledStandup(world, { space, date: TODAY, timezone, people: 2 })
    for (const person of people) await put(person, room, { today: 'Work' })
    await clock.set(last)
    await sweep()
    expect(await daysOf(space)).toEqual([])
    await clock.set(over)
    await sweep()
    const frozen = await daysOf(space)
    expect(frozen).toMatchObject([{ ...FROZEN, room_id: room.uuid }])

    // What comes later is late, and the record of the end agrees with the day.
    await put(host, room, { today: 'Late' })
    await end(host, room)
    await sweep()
    expect(await daysOf(space)).toEqual(frozen)
    expect(await closedOf(room)).toEqual([{ slotDate: TODAY, eligible: 4, answered: 2 }])
  })

  it('and ends at once write one row, and agree', async () => {
    for (let round = 0; round < 5; round++) {
      await clock.set(NOON)
      const { space, room, host } = await answeredDay()
      await clock.set('2026-06-05T10:00:00Z')
      await Promise.all([sweep(), end(host, room), sweep(), put(host, room, { today: 'Just so' }), sweep()])
      const days = await daysOf(space)
      expect(days).toHaveLength(1)
      const { eligible, answered } = days[0]!
      expect(await closedOf(room)).toEqual([{ slotDate: TODAY, eligible, answered }])
    }
  })

  it('passes over an org that is not active, until it is again', async () => {
    const stranger = await world.otherOrg()
    await scheduledStandup(world, { space: stranger.space, date: TODAY, host: stranger })
    const set = (columns: string) => world.sql(`UPDATE identity.orgs SET ${columns} WHERE id = $1`, [stranger.orgId])
    await clock.set('2026-06-05T10:00:00Z')
    await set(`status = 'archived', archived_at = now()`)
    await sweep()
    expect(await daysOf(stranger.space)).toEqual([])
    await set(`status = 'active', archived_at = NULL`)
    await sweep()
    expect(await daysOf(stranger.space)).toMatchObject([{ eligible: 1, answered: 0 }])
  })
})

describe('ROOM-134 standupTrend', () => {
  const trend = async (person: Actor, space: TestSpace, weeks: number) =>
    (
      await person.run(
        'query ($spaceId: ID!, $weeks: Int!) { standupTrend(spaceId: $spaceId, weeks: $weeks) { startsOn answeredPercent } }',
        {
          spaceId: space.id,
          weeks,
        },
      )
    ).standupTrend
  const day = ({ orgId, uuid }: TestSpace, date: string, answered: number, eligible: number) =>
    world.sql(
      `INSERT INTO rooms.standup_trend_days (org_id, space_id, day, eligible, answered) VALUES ($1, $2, $3, $4, $5)`,
      [orgId, uuid, date, eligible, answered],
    )

  it('sums a week from its Monday, in percent with one decimal, the running week last', async () => {
    const space = await world.space()
    await day(space, '2026-05-17', 9, 9) // a Sunday, of the week before
    await day(space, '2026-05-18', 4, 6)
    await day(space, '2026-05-24', 4, 6)
    await day(space, '2026-06-01', 5, 6)
    await day(space, '2026-06-03', 6, 6)
    expect(await trend(world.owner, space, 3)).toEqual([
      { startsOn: '2026-05-18', answeredPercent: 66.7 },
      { startsOn: '2026-05-25', answeredPercent: null },
      { startsOn: '2026-06-01', answeredPercent: 91.7 },
    ])
    expect(await trend(world.owner, space, 1)).toHaveLength(1)
    const { standupTrend } = await world.owner.run(`{ standupTrend(spaceId: "${space.id}") { startsOn } }`)
    expect(standupTrend).toHaveLength(12)
    expect((await trend(world.owner, space, 26))[0]).toEqual({ startsOn: '2025-12-08', answeredPercent: null })
  })

  it('leaves out days on which fewer than four could have answered', async () => {
    const space = await world.space()
    await day(space, '2026-05-25', 3, 3)
    await day(space, '2026-05-26', 0, 0)
    await day(space, '2026-06-01', 1, 4)
    await day(space, '2026-06-02', 3, 3)
    expect(await trend(world.owner, space, 2)).toEqual([
      { startsOn: '2026-05-25', answeredPercent: null },
      { startsOn: '2026-06-01', answeredPercent: 25 },
    ])
  })

  it('shows what a standup left behind, to members alone', async () => {
    const { space, room, host, people } = await answeredDay()
    await end(host, room)
    const week = [{ startsOn: '2026-06-01', answeredPercent: 50 }]
    for (const member of [
      host,
      people[0],
      await world.viewer({ space }),
      await world.anonymous({ space }),
      await world.agent({ space }),
    ]) {
      expect(await trend(member, space, 1)).toEqual(week)
    }
    const admin = await world.member({ role: 'admin', space: null })
    for (const other of [admin, await world.outsider(), await world.otherOrg()]) {
      expect(await trend(other, space, 1)).toBeNull()
    }
    const guest = await world.guest(room)
    const asked = await guest.send(`{ standupTrend(spaceId: "${space.id}", weeks: 1) { startsOn } }`)
    expect(asked.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
  })

  it('goes back 1 to 26 weeks', async () => {
    for (const weeks of [0, 27, -1]) {
      const { errors } = await world.owner.send(
        `{ standupTrend(spaceId: "${world.home.id}", weeks: ${weeks}) { startsOn } }`,
      )
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }])
    }
  })
})

describe('ROOM-132 in SQL', () => {
  const run = async (url: string, text: string, room = ''): Promise<string | number | null> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await client.query('BEGIN')
      await client.query(`SELECT set_config('moothall.org_id', $1, true), set_config('moothall.room_id', $2, true)`, [
        world.org.id,
        room,
      ])
      return (await client.query(text)).rowCount
    } catch (error) {
      return (error as pg.DatabaseError).code ?? String(error)
    } finally {
      await client.end()
    }
  }

  it('the app changes and deletes no frozen day, and its owner changes none either (MH008)', async () => {
    const { space, room, host } = await answeredDay()
    await end(host, room)
    const { appUrl, ownerUrl } = app.database
    const of = `rooms.standup_trend_days`
    for (const change of [
      'answered = 3',
      'eligible = 9',
      `day = '2026-01-01'`,
      'frozen_at = now()',
      'room_id = NULL',
    ]) {
      expect(await run(appUrl, `UPDATE ${of} SET ${change}`)).toBe('42501')
    }
    expect(await run(appUrl, `DELETE FROM ${of}`)).toBe('42501')
    const one = `WHERE space_id = '${space.uuid}'`
    for (const change of ['answered = 3', `day = '2026-01-01'`, 'frozen_at = now()', 'room_id = platform.new_id()']) {
      expect(await run(ownerUrl, `UPDATE ${of} SET ${change} ${one}`)).toBe('MH008')
    }
    expect(await run(ownerUrl, `UPDATE ${of} SET room_id = NULL, answered = 3 ${one}`)).toBe('MH008')
    expect(await run(ownerUrl, `UPDATE ${of} SET room_id = NULL ${one}`)).toBe(1)
  })

  it('a guest sees no day, and learns of nobody who is away', async () => {
    const { space, room, host, people } = await answeredDay()
    await isAway(world, people[0], TODAY)
    await end(host, room)
    const { appUrl } = app.database
    const away = `SELECT FROM rooms.away_on('${space.uuid}', '${TODAY}')`
    expect(await run(appUrl, 'SELECT FROM rooms.standup_trend_days')).not.toBe(0)
    expect(await run(appUrl, away)).toBe(1)
    expect(await run(appUrl, 'SELECT FROM rooms.standup_trend_days', room.uuid)).toBe(0)
    expect(await run(appUrl, away, room.uuid)).toBe(0)
  })

  it('ROOM-133 figures that cannot be are not taken', async () => {
    const insert = (answered: number, eligible: number) =>
      `INSERT INTO rooms.standup_trend_days (org_id, space_id, day, eligible, answered)
       VALUES ('${world.org.id}', '${world.home.uuid}', '2026-06-01', ${eligible}, ${answered})`
    expect(await run(app.database.appUrl, insert(2, 1))).toBe('23514')
    expect(await run(app.database.appUrl, insert(-1, 1))).toBe('23514')
    expect(await run(app.database.appUrl, insert(1, 1))).toBe(1)
  })

  it('ROOM-121, ROOM-132 a zone that the database does not know is over when it is over everywhere', async () => {
    const [row] = await world.sql(
      `SELECT rooms.day_end('2026-06-03', 'Nowhere/Land') = '2026-06-04T12:00:00Z' AS last,
         rooms.day_end('2026-06-03', 'Asia/Tokyo') = '2026-06-03T15:00:00Z' AS known, rooms.day_end(NULL, NULL) AS none`,
    )
    expect(row).toEqual({ last: true, known: true, none: null })
  })
})
