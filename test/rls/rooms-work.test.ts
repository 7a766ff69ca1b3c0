import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RoomsWorld } from './rooms-world.ts'

let world: RoomsWorld
let org: string
let space: string
beforeAll(async () => {
  world = await RoomsWorld.open()
  org = await world.org()
  space = await world.space(org)
})
afterAll(() => world.close())

/** A sweep knows no org. */
const sweep = (text: string, values: unknown[]) => world.as({}, text, values)

async function roomWith(set: string, inOrg = org, inSpace = space): Promise<string> {
  const room = await world.room(inOrg, inSpace)
  await world.owner(`UPDATE rooms.rooms SET ${set} WHERE id = $1`, [room])
  return room
}

const OVER = `closes_at = now() - interval '1 second'`
const TIMER = `timer_started_at = now() - interval '2 minutes', timer_ends_at = now() - interval '1 minute'`

describe('due rooms', () => {
  const due = async (limit = 100) =>
    (await sweep('SELECT room_id, due FROM rooms.claim_due_rooms($1)', [limit])).map(
      (row) => `${row.due} ${row.room_id}`,
    )

  it('ROOM-81 ROOM-127 are those whose window or revealing timer is over, oldest first', async () => {
    const window = await roomWith(OVER)
    const timer = await roomWith(`${TIMER}, timer_on_end = 'reveal'`)
    const never = [
      await roomWith(`closes_at = now() + interval '1 hour'`),
      await roomWith(`${OVER}, phase = 'done', ended_at = now()`),
      await roomWith(TIMER),
      await roomWith(`timer_started_at = now(), timer_ends_at = now() + interval '1 hour', timer_on_end = 'reveal'`),
    ]

    const found = await due()
    expect(found).toEqual([`timer ${timer}`, `window ${window}`])
    expect(never.some((room) => found.join().includes(room))).toBe(false)
    expect(await due(1)).toEqual([`timer ${timer}`])
    await world.owner('DELETE FROM rooms.rooms')
  })

  it('ROOM-81 say what was armed: when it was due, and in which round', async () => {
    const room = await roomWith(`${TIMER}, timer_on_end = 'reveal', poker_round_version = 7`)
    const [row] = await sweep('SELECT * FROM rooms.claim_due_rooms(10)', [])
    const [armed] = await world.owner('SELECT timer_ends_at FROM rooms.rooms WHERE id = $1', [room])
    expect(row).toEqual({
      org_id: org,
      room_id: room,
      due: 'timer',
      due_at: armed?.timer_ends_at,
      poker_round_version: '7',
    })
    await world.owner('DELETE FROM rooms.rooms')
  })

  it('ROOM-125 are none of an org that is not active', async () => {
    const archived = await world.org()
    await roomWith(OVER, archived, await world.space(archived))
    await world.owner(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [archived])
    expect(await due()).toEqual([])
  })

  it('ROOM-81 are claimed by one of two sweeps at once', async () => {
    const room = await roomWith(OVER)
    const step = await world.begin({})
    expect((await step.query('SELECT FROM rooms.claim_due_rooms(10)')).rowCount).toBe(1)
    expect(await due()).toEqual([])
    await step.rollback()
    expect(await due()).toEqual([`window ${room}`])
  })
})

describe('presence', () => {
  it('ROOM-52 silent for 45 seconds is removed; told are the rooms in which somebody has no connection left', async () => {
    const [lost, kept, quiet] = [
      await world.room(org, space),
      await world.room(org, space),
      await world.room(org, space),
    ]
    const { user } = await world.member(org, space)
    await world.present(org, lost, user, 46)
    await world.present(org, lost, (await world.member(org, space)).user)
    await world.present(org, kept, user, 46)
    await world.present(org, kept, user, 1)
    await world.present(org, quiet, user, 44)

    const pruned = await sweep('SELECT * FROM rooms.maint_prune_room_presence($1)', [100])
    expect(pruned).toEqual([{ org_id: org, room_id: lost }])
    expect(await world.owner('SELECT FROM rooms.room_presence')).toHaveLength(3)
  })

  it('ROOM-52 is removed in portions', async () => {
    const { user } = await world.member(org, space)
    const room = await world.room(org, space)
    for (let n = 0; n < 3; n++) await world.present(org, room, user, 60)
    const prune = () => sweep('SELECT FROM rooms.maint_prune_room_presence($1)', [2])
    await prune()
    expect(await world.owner('SELECT FROM rooms.room_presence WHERE room_id = $1', [room])).toHaveLength(1)
    await prune()
    expect(await world.owner('SELECT FROM rooms.room_presence WHERE room_id = $1', [room])).toHaveLength(0)
  })
})

describe('stored events', () => {
  it('ROOM-170 are removed after a day, and counted', async () => {
    const room = await world.room(org, space)
    for (const [version, age] of [
      [2, '25 hours'],
      [3, '24 hours 1 second'],
      [4, '23 hours'],
    ]) {
      await world.owner(
        `INSERT INTO rooms.room_events (org_id, room_id, version, type, audience, created_at)
         VALUES ($1, $2, $3, 'X', 'all', now() - $4::interval)`,
        [org, room, version, age],
      )
    }
    const prune = (limit: number) => sweep('SELECT rooms.maint_prune_room_events($1) AS gone', [limit])
    expect(await prune(1)).toEqual([{ gone: 1 }])
    expect(await prune(10)).toEqual([{ gone: 1 }])
    expect(await world.owner('SELECT version FROM rooms.room_events WHERE room_id = $1', [room])).toEqual([
      { version: '4' },
    ])
  })

  it('ROOM-3 are neither changed nor deleted by the app (42501), and one version has one', async () => {
    const room = await world.room(org, space)
    const store = () =>
      world.as(
        { org },
        `INSERT INTO rooms.room_events (org_id, room_id, version, type, audience) VALUES ($1, $2, 2, 'X', 'all')`,
        [org, room],
      )
    await store()
    await expect(store()).rejects.toMatchObject({ code: '23505' })
    await expect(world.as({ org }, `UPDATE rooms.room_events SET payload = '{}'`)).rejects.toMatchObject({
      code: '42501',
    })
    await expect(world.as({ org }, 'DELETE FROM rooms.room_events')).rejects.toMatchObject({ code: '42501' })
  })
})
