import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Person, RoomsWorld } from './rooms-world.ts'

let world: RoomsWorld
let listener: pg.Client
let heard: string[] = []
let org: string
let space: string
let member: Person
beforeAll(async () => {
  world = await RoomsWorld.open()
  listener = await world.listener()
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''))
  org = await world.org()
  space = await world.space(org)
  member = await world.member(org, space)
})
afterAll(async () => {
  await listener.end()
  await world.close()
})

/** What channel moothall_rooms says of a piece of work. Notifications come in order, so marks of our own enclose it. */
async function notified(work: () => Promise<unknown>): Promise<string[]> {
  await mark('begin')
  heard = []
  await work()
  await mark('end')
  return heard.slice(0, -1).sort()
}

async function mark(word: string): Promise<void> {
  await world.owner(`SELECT pg_notify('moothall_rooms', $1)`, [word])
  await vi.waitUntil(() => heard.at(-1) === word, 5_000)
}

const changed = (room: string) => `{"v":1,"o":"${org}","r":"${room}"}`
const presence = (room: string) => `{"v":1,"o":"${org}","r":"${room}","p":1}`

const STORE = `INSERT INTO rooms.room_events (org_id, room_id, version, type, audience) VALUES ($1, $2, $3, 'X', 'all')`
const ATTACH = 'INSERT INTO rooms.room_presence (org_id, room_id, connection_id, user_id) VALUES ($1, $2, $3, $4)'

it('ROOM-175 tells of a room once a transaction, however many events are stored', async () => {
  const [one, two] = [await world.room(org, space), await world.room(org, space)]
  const told = await notified(async () => {
    const step = await world.begin(member)
    for (const [room, version] of [
      [one, 2],
      [one, 3],
      [two, 2],
    ]) {
      await step.query(STORE, [org, room, version])
    }
    await step.commit()
  })
  expect(told).toEqual([changed(one), changed(two)].sort())
})

it('ROOM-175 tells nothing of a transaction that is rolled back', async () => {
  const room = await world.room(org, space)
  const told = await notified(async () => {
    const step = await world.begin(member)
    await step.query(STORE, [org, room, 2])
    await step.rollback()
  })
  expect(told).toEqual([])
})

it('ROOM-52 tells of presence when a connection comes or goes, and not of its heartbeats', async () => {
  const room = await world.room(org, space)
  const guest = await world.guest(org, room)
  const connection = randomUUID()
  const beat = `${ATTACH} ON CONFLICT (org_id, room_id, connection_id) DO UPDATE SET last_seen_at = now()`
  const row = [org, room, connection, guest.user]

  expect(await notified(() => world.as(guest, ATTACH, row))).toEqual([presence(room)])
  expect(await notified(() => world.as(guest, beat, row))).toEqual([])
  expect(await notified(() => world.as(guest, 'UPDATE rooms.room_presence SET last_seen_at = now()'))).toEqual([])
  expect(await notified(() => world.as(guest, 'DELETE FROM rooms.room_presence'))).toEqual([presence(room)])
})

it('ROOM-52 tells of presence that the sweep removes', async () => {
  const room = await world.room(org, space)
  await world.present(org, room, member.user, 60)
  expect(await notified(() => world.as({}, 'SELECT rooms.maint_prune_room_presence(100)'))).toEqual([presence(room)])
})

it('ROOM-34 tells of a deleted room, also when it goes with its space', async () => {
  const room = await world.room(org, space)
  expect(await notified(() => world.as({ org }, 'DELETE FROM rooms.rooms WHERE id = $1', [room]))).toEqual([
    changed(room),
  ])

  const doomed = await world.space(org)
  const rooms = [await world.room(org, doomed), await world.room(org, doomed)]
  const told = await notified(() => world.as({ org }, 'DELETE FROM rooms.spaces WHERE id = $1', [doomed]))
  expect(told).toEqual(rooms.map(changed).sort())
})
