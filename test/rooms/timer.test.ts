import { afterAll, beforeAll, expect, it } from 'vitest'
import { fireDueRooms } from '../../src/rooms/room/fire-due-rooms.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  const app = await startApp()
  world = await createWorld(app)
  // Whatever a session's zone is, timers are instants (ROOM-80).
  await world.sql(`ALTER DATABASE ${app.database.name} SET TimeZone TO 'Asia/Tokyo'`)
})
afterAll(() => world.close())

const TIMER = 'serverNow room { version timer { startedAt endsAt onEnd } serverNow poker { revealed } }'
const of = (actor: Actor, name: string, room: TestRoom, more: object = {}) =>
  actor.mutate(name, { roomId: room.id, ...more }, TIMER)
const start = (actor: Actor, room: TestRoom, seconds = 60, onEnd?: 'REVEAL') =>
  of(actor, 'roomTimerStart', room, { seconds, onEnd })
const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1_000
const typesOf = async (room: TestRoom) => (await world.events(room)).map(({ type }) => type)
/** Moves the clock for the room's timer. */
const later = ({ uuid }: TestRoom, by: number) =>
  world.sql(
    `UPDATE rooms.rooms SET timer_started_at = timer_started_at - make_interval(secs => $2),
       timer_ends_at = timer_ends_at - make_interval(secs => $2) WHERE id = $1`,
    [uuid, by],
  )
const fire = () => fireDueRooms((work) => work())

it('ROOM-80 starts one timer by the database’s clock, told with what the time is there', async () => {
  const { room, host } = await world.pokerRoom()
  const clock = async () => (await world.sql<{ now: Date }>('SELECT clock_timestamp() AS now'))[0]!.now.getTime()
  const before = await clock()
  const { serverNow, room: started } = await start(host, room, 90)
  const after = await clock()
  expect(started.timer.onEnd).toBe('NONE')
  expect(seconds(started.timer.startedAt, started.timer.endsAt)).toBe(90)
  for (const instant of [started.timer.startedAt, serverNow]) {
    expect(Date.parse(instant)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(instant)).toBeLessThanOrEqual(after)
  }
  expect(serverNow).toMatch(/Z$/)

  const replaced = await start(host, room, 10)
  expect(seconds(replaced.room.timer.startedAt, replaced.room.timer.endsAt)).toBe(10)
  expect(await typesOf(room)).toEqual(['TimerChanged', 'TimerChanged'])
  expect(await world.facts({ room })).toEqual(['room.timer_set', 'room.timer_set'])
})

it('ROOM-81 extends from the end, or from now when that is past', async () => {
  const { room, host } = await world.pokerRoom()
  expect(await of(host, 'roomTimerExtend', room, { seconds: 30 })).toMatchObject({ code: 'CONFLICT' })
  await start(host, room, 60)
  const running = (await of(host, 'roomTimerExtend', room, { seconds: 30 })).room.timer
  expect(seconds(running.startedAt, running.endsAt)).toBe(90)
  await later(room, 600)
  const since = Date.now()
  const past = await of(host, 'roomTimerExtend', room, { seconds: 30 })
  const left = seconds(past['serverNow'], past.room.timer.endsAt)
  expect(left).toBeGreaterThan(29 - (Date.now() - since) / 1_000)
  expect(left).toBeLessThanOrEqual(30)
})

it('ROOM-80 stops the timer; a second stop changes nothing', async () => {
  const { room, host } = await world.pokerRoom()
  await start(host, room)
  const stopped = await of(host, 'roomTimerStop', room)
  expect(stopped.room.timer).toBeNull()
  expect((await of(host, 'roomTimerStop', room)).room.version).toBe(stopped.room.version)
  const facts = await world.sql(`SELECT payload FROM platform.audit_events WHERE room_id = $1 ORDER BY created_at`, [
    room.uuid,
  ])
  expect(facts.map(({ payload }) => payload)).toEqual([
    { change: 'started', seconds: 60, onEnd: 'none' },
    { change: 'stopped', seconds: null, onEnd: 'none' },
  ])
})

it('ROOM-80 is for hosts, within bounds', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const guest = await world.guest(room)
  for (const other of [voters[0]!, world.owner, guest, await world.viewer(), await world.embedded(host)]) {
    for (const [name, more] of [
      ['roomTimerStart', { seconds: 60 }],
      ['roomTimerExtend', { seconds: 60 }],
      ['roomTimerStop', {}],
    ] as const) {
      expect(await of(other, name, room, more)).toMatchObject({ code: 'FORBIDDEN' })
    }
  }
  for (const wrong of [9, 3_601, -1]) {
    expect(await start(host, room, wrong)).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'seconds'] }],
    })
  }
  for (const wrong of [9, 601]) {
    expect(await of(host, 'roomTimerExtend', room, { seconds: wrong })).toMatchObject({ code: 'INVALID_INPUT' })
  }
})

it('ROOM-81 reveals a round with a vote when the timer ends, within 2 s, and clears the timer', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const stream = openRoomStream({
    url: `${world.app.url}/graphql`,
    token: host.client.token!,
    variables: { roomId: room.id },
  })
  await voters[0]!.vote(room, '5')
  await start(host, room, 10, 'REVEAL')
  await later(room, 9)
  const due = Date.now() + 1_000
  await stream.next(({ __typename }) => __typename === 'RoundRevealed')
  stream.close()
  expect(Date.now()).toBeGreaterThanOrEqual(due - 200)
  expect(Date.now()).toBeLessThan(due + 2_000)
  await expect.poll(async () => (await host.room(room, 'timer { endsAt }')).timer).toBeNull()
  expect((await typesOf(room)).slice(-2)).toEqual(['RoundRevealed', 'TimerChanged'])
  const [fact] = await world.sql(
    `SELECT actor_kind, payload ->> 'reason' AS reason FROM platform.audit_events
     WHERE room_id = $1 AND event_type = 'round.revealed'`,
    [room.uuid],
  )
  expect(fact).toEqual({ actor_kind: 'system', reason: 'TIMER' })
})

it('ROOM-81 only clears the timer of a round without a vote, and does it once', async () => {
  const { room, host } = await world.pokerRoom()
  await start(host, room, 10, 'REVEAL')
  await later(room, 11)
  await Promise.all([fire(), fire(), fire()])
  await expect.poll(async () => (await host.room(room, 'timer { endsAt }')).timer).toBeNull()
  expect((await host.room(room, 'poker { revealed }')).poker.revealed).toBe(false)
  expect(await typesOf(room)).toEqual(['TimerChanged', 'TimerChanged'])
})

it('ROOM-73 leaves the next round alone: the timer is armed, the round reset, the time past', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1, stories: 2 })
  await voters[0]!.vote(room, '5')
  await start(host, room, 10, 'REVEAL')
  await host.mutate('roomReset', { roomId: room.id })
  expect((await host.room(room, 'timer { endsAt }')).timer).toBeNull()
  await fire()
  expect((await host.room(room, 'poker { revealed }')).poker.revealed).toBe(false)
})

it('ROOM-81 does nothing on the server at the end of a timer without onEnd', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await voters[0]!.vote(room, '5')
  await start(host, room, 10)
  await later(room, 11)
  const before = await host.room(room, 'version timer { endsAt } poker { revealed }')
  await fire()
  expect(await host.room(room, 'version timer { endsAt } poker { revealed }')).toEqual(before)
  expect(before).toMatchObject({ timer: {}, poker: { revealed: false } })
})

it('ends a room whose window is over, unless the window was moved', async () => {
  const [over, moved] = [await world.pokerRoom(), await world.pokerRoom()]
  await world.sql(`UPDATE rooms.rooms SET closes_at = now() - interval '1 s' WHERE id = $1`, [over.room.uuid])
  await world.sql(`UPDATE rooms.rooms SET closes_at = now() + interval '1 h' WHERE id = $1`, [moved.room.uuid])
  await fire()
  await expect.poll(async () => (await over.host.room(over.room, 'phase')).phase).toBe('done')
  expect((await moved.host.room(moved.room, 'phase')).phase).toBe('active')
  expect(await world.facts({ room: over.room })).toEqual(['room.ended'])
})
