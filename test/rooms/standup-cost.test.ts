import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { STANDUP, seen, standup } from './standup-circle.ts'

let world: World
const statements: string[] = []
beforeAll(async () => {
  world = await createWorld(await startApp())
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text?: string }]
    statements.push(typeof statement === 'string' ? statement : (statement.text ?? ''))
    return query.apply(this, args)
  } as never)
})
afterAll(() => world.close())

/** So many people with an answered entry, each with two comments and two reactions. */
async function answer(room: TestRoom, count: number): Promise<void> {
  await world.sql(
    `WITH people AS (
       INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
       SELECT platform.new_id(), 'human', 'anonymous', $1, 'Person ' || n, 'active' FROM generate_series(1, $3) AS n
       RETURNING id
     ), entries AS (
       INSERT INTO rooms.standup_entries (org_id, room_id, user_id, today) SELECT $1, $2, id, 'Work' FROM people
     ), comments AS (
       INSERT INTO rooms.standup_entry_comments (org_id, room_id, entry_user_id, author_id, text)
       SELECT $1, $2, id, id, 'Good' FROM people, generate_series(1, 2)
     )
     INSERT INTO rooms.standup_entry_reactions (org_id, room_id, entry_user_id, user_id, emoji)
     SELECT $1, $2, id, id, emoji FROM people, unnest('{👍,🎉}'::text[]) AS emoji`,
    [room.orgId, room.uuid, count],
  )
}

it('ROOM-173 a standup is read by as many statements whatever is in it', async () => {
  const { room, host } = await standup(world)
  const cost = async (entries: number) => {
    await answer(room, entries)
    await seen(host, room) // whatever is prepared once
    statements.length = 0
    const { standup: shown } = await seen(host, room)
    return { shown: shown.entries.length, statements: statements.filter((text) => /rooms|identity/.test(text)).length }
  }
  const few = await cost(2)
  const many = await cost(48)
  expect([few.shown, many.shown]).toEqual([2, 50])
  expect(few.statements).toBeGreaterThan(3)
  expect(many.statements).toBe(few.statements)
})

it('PLAT-67 a guest reads the whole of a standup in one document', async () => {
  const { room } = await standup(world, { people: 1 })
  await answer(room, 3)
  const guest = await world.guest(room)
  const selection = `id kind title config { ... on StandupConfig { async speakerSeconds } } facilitator { id displayName }
    participants { user { id displayName } guest spectator cofacilitator present } presentUserIds ${STANDUP}`
  const answered = await guest.send(`query ($id: ID!) { room(id: $id) { ${selection} } }`, room)
  expect(answered.errors).toBeUndefined()
  expect(answered.data).toMatchObject({ room: { standup: { entries: [{}, {}, {}] } } })
  expect(answered.extensions).toMatchObject({ cost: { maximum: 2_000 } })
})
