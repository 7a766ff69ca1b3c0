import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { type App, startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { type SlotClock, slotClock } from '../support/slot-clock.ts'
import { createWorld, type World } from '../support/world.ts'
import { isAway, scheduledStandup } from './scheduled-standup.ts'
import { standup } from './standup-circle.ts'

const TODAY = '2026-06-03'
const NOON = `${TODAY}T10:00:00Z`

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

const awayIn = async (viewer: Actor, room: TestRoom) =>
  (await viewer.room(room, 'standup { awayUserIds }')).standup.awayUserIds

/** A standup of today with three people, of whom the first is away. */
async function today(setup: { timezone?: string } = {}) {
  const space = await world.space()
  const opened = await scheduledStandup(world, { space, date: TODAY, people: 3, ...setup })
  const [gone, here, watcher] = opened.people as [Actor, Actor, Actor]
  await isAway(world, gone, TODAY)
  return { ...opened, space, gone, here, watcher }
}

describe('ROOM-131 an open scheduled standup of today', () => {
  it('shows to members who is away, whoever they are and whenever they said it', async () => {
    const { room, space, host, gone, here, watcher } = await today()
    await world.sql('UPDATE rooms.space_members SET spectator = true WHERE user_id = $1', [watcher.userId])
    await isAway(world, watcher, TODAY, NOON)
    await isAway(world, here, '2026-06-02')
    await isAway(world, host, '2026-06-04')
    const expected = [gone.id, watcher.id].toSorted()
    const viewers = [host, gone, world.owner, await world.viewer({ space }), await world.agent({ space })]
    for (const viewer of viewers) expect((await awayIn(viewer, room)).toSorted()).toEqual(expected)
  })

  it('shows an empty list where nobody is away', async () => {
    const { room, host } = await scheduledStandup(world, { space: await world.space(), date: TODAY })
    expect(await awayIn(host, room)).toEqual([])
  })

  it('shows no absence of who is no member any more, or of another space', async () => {
    const { room, space, host, gone } = await today()
    await isAway(world, await world.member(), TODAY)
    expect(await awayIn(host, room)).toEqual([gone.id])
    await world.owner.mutate('spaceMemberRemove', { id: space.id, userId: gone.id })
    expect(await awayIn(host, room)).toEqual([])
  })

  it('follows what people add and take back', async () => {
    const { room, host, here, gone } = await today()
    const { awayRange } = await here.mutate(
      'awayAdd',
      { startsOn: '2026-06-01', endsOn: '2026-06-05' },
      'awayRange { id }',
    )
    expect((await awayIn(host, room)).toSorted()).toEqual([gone.id, here.id].toSorted())
    await here.mutate('awayDelete', { id: awayRange.id })
    expect(await awayIn(host, room)).toEqual([gone.id])
  })

  it('never tells a guest, by query, snapshot or event', async () => {
    const { room, gone } = await today()
    const guest = await world.guest(room)
    expect(await awayIn(guest, room)).toBeNull()
    const stream = openRoomStream({
      url: guest.client.url,
      token: guest.client.token!,
      variables: { roomId: room.id },
      query: `subscription ($roomId: ID!) { roomEvents(roomId: $roomId) {
        __typename version ... on RoomSnapshot { room { standup { awayUserIds } } } } }`,
    })
    const snapshot = await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
    stream.close()
    expect(snapshot.room.standup.awayUserIds).toBeNull()
    expect(JSON.stringify(snapshot)).not.toContain(gone.id)
  })
})

describe('ROOM-131 it shows nobody', () => {
  it('once it has ended, nor reopened after its day', async () => {
    const { room, host, gone } = await today()
    await host.mutate('roomEnd', { roomId: room.id })
    expect(await awayIn(host, room)).toBeNull()
    await host.mutate('roomReopen', { roomId: room.id })
    expect(await awayIn(host, room)).toEqual([gone.id])
    await clock.set('2026-06-04T10:00:00Z')
    expect(await awayIn(host, room)).toBeNull()
  })

  it.each([
    ['Europe/Berlin', '2026-06-02T22:00:00Z', '2026-06-03T21:59:59Z'],
    ['Asia/Tokyo', '2026-06-02T15:00:00Z', '2026-06-03T14:59:59Z'],
    ['America/Los_Angeles', '2026-06-03T07:00:00Z', '2026-06-04T06:59:59Z'],
  ])('before and after its day in %s', async (timezone, first, last) => {
    const { room, host, gone } = await today({ timezone })
    for (const at of [first, last]) {
      await clock.set(at)
      expect(await awayIn(host, room)).toEqual([gone.id])
      await clock.set(new Date(Date.parse(at) + (at === first ? -1_000 : 1_000)).toISOString())
      expect(await awayIn(host, room)).toBeNull()
    }
  })

  it('of a standup that people opened', async () => {
    const { room, host, people } = await standup(world, { people: 1 })
    await isAway(world, people[0]!, TODAY)
    expect(await awayIn(host, room)).toBeNull()
  })
})

describe('ROOM-130 in SQL as the app', () => {
  const rowsFor = async (viewer: Actor | null, text: string): Promise<number | string | null> => {
    const client = new pg.Client({ connectionString: app.database.appUrl })
    await client.connect()
    try {
      await client.query('BEGIN')
      await client.query(`SELECT set_config('moothall.org_id', $1, true), set_config('moothall.user_id', $2, true)`, [
        world.org.id,
        viewer?.userId ?? '',
      ])
      return (await client.query(text)).rowCount
    } catch (error) {
      return (error as pg.DatabaseError).code ?? String(error)
    } finally {
      await client.end()
    }
  }

  it('nobody reads, adds or removes another’s days, whoever they are; the day of one space is all there is', async () => {
    const { gone, host, space } = await today()
    const table = 'rooms.standup_away'
    const add = `INSERT INTO ${table} (org_id, user_id, starts_on, ends_on)
      VALUES ('${world.org.id}', '${gone.userId}', '2026-07-01', '2026-07-01')`
    for (const other of [host, world.owner, null]) {
      expect(await rowsFor(other, `SELECT FROM ${table} WHERE user_id = '${gone.userId}'`)).toBe(0)
      expect(await rowsFor(other, `DELETE FROM ${table} WHERE user_id = '${gone.userId}'`)).toBe(0)
      expect(await rowsFor(other, add)).toBe('42501')
      expect(await rowsFor(other, `SELECT FROM rooms.away_on('${space.uuid}', '${TODAY}')`)).toBe(1)
    }
    expect(await rowsFor(gone, `SELECT FROM ${table} WHERE user_id = '${gone.userId}'`)).toBe(1)
    expect(await rowsFor(gone, `UPDATE ${table} SET ends_on = '2026-07-09'`)).toBe('42501')
    expect(await rowsFor(gone, add)).toBe(1)
  })

  it('another org asks in vain', async () => {
    const { space } = await today()
    const stranger = await world.otherOrg()
    const client = new pg.Client({ connectionString: app.database.appUrl })
    await client.connect()
    await client.query('BEGIN')
    await client.query(`SELECT set_config('moothall.org_id', $1, true)`, [stranger.orgId])
    const { rowCount } = await client.query('SELECT FROM rooms.away_on($1, $2)', [space.uuid, TODAY])
    await client.end()
    expect(rowCount).toBe(0)
  })

  it('ranges of 90 days, and none that ends before it starts', async () => {
    const person = await world.member()
    const insert = (startsOn: string, endsOn: string) =>
      rowsFor(
        person,
        `INSERT INTO rooms.standup_away (org_id, user_id, starts_on, ends_on)
         VALUES ('${world.org.id}', '${person.userId}', '${startsOn}', '${endsOn}')`,
      )
    expect(await insert('2026-01-01', '2026-03-31')).toBe(1)
    expect(await insert('2026-01-01', '2026-04-01')).toBe('23514')
    expect(await insert('2026-01-02', '2026-01-01')).toBe('23514')
  })
})
