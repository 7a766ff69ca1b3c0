import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { sql } from '../../src/db/sql.ts'
import type { UserCaller } from '../../src/graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../src/graphql/errors.ts'
import { registerTicketEstimates } from '../../src/rooms/index.ts'
import type { Actor, Outcome } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { next } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World
/** Display ids that the port was asked for, by whom. */
const asked: [userId: string, displayId: string, estimate: string | null][] = []

/** Tickets as a body keeps them that knows redirects and who may edit. */
beforeAll(async () => {
  world = await createWorld(await startApp())
  await world.sql(`CREATE SCHEMA desk;
    CREATE TABLE desk.tickets (id int PRIMARY KEY, estimate text, changes int NOT NULL DEFAULT 0);
    CREATE TABLE desk.names (display_id text PRIMARY KEY, ticket int NOT NULL);
    CREATE TABLE desk.editors (ticket int NOT NULL, user_id uuid NOT NULL);
    GRANT USAGE ON SCHEMA desk TO moothall_app;
    GRANT SELECT ON desk.names, desk.editors TO moothall_app;
    GRANT SELECT, UPDATE ON desk.tickets TO moothall_app`)
})
afterAll(() => world.close())
beforeEach(() => registerTicketEstimates(standIn))
afterEach(() => {
  asked.length = 0
  registerTicketEstimates(async () => false)
})

async function standIn(caller: UserCaller, { displayId, estimate }: { displayId: string; estimate: string | null }) {
  asked.push([caller.userId, displayId, estimate])
  const set = await sql`
    UPDATE desk.tickets AS t SET estimate = ${estimate}, changes = changes + 1
    FROM desk.names AS n, desk.editors AS e
    WHERE n.display_id = ${displayId} AND t.id = n.ticket AND e.ticket = t.id AND e.user_id = ${caller.userId} RETURNING 1`
  return set.length > 0
}

const estimate = (person: Actor, id: string, input: object): Promise<Outcome> =>
  person.mutate('storyEstimate', { id, ...input }, 'room { version } story { estimate }')

let made = 0
/** A room whose story is of a ticket that its host may edit. */
async function ticketed({ ref, editable = true }: { ref?: string; editable?: boolean } = {}) {
  const { room, host, voters, stories } = await world.pokerRoom({ voters: 1 })
  const [story] = stories as [string]
  const ticket = ++made
  const displayId = `PROJ-${ticket}`
  await world.sql('INSERT INTO desk.tickets (id) VALUES ($1)', [ticket])
  await world.sql('INSERT INTO desk.names (display_id, ticket) VALUES ($1, $3), ($2, $3)', [
    displayId,
    `OLD-${ticket}`,
    ticket,
  ])
  if (editable) await world.sql('INSERT INTO desk.editors VALUES ($1, $2)', [ticket, host.userId])
  await world.sql('UPDATE rooms.stories SET ref = $2 WHERE id = $1', [uuidOf(story), ref ?? displayId])
  const ticketNow = async () =>
    (await world.sql('SELECT estimate, changes FROM desk.tickets WHERE id = $1', [ticket]))[0]
  return { room, host, voters, story, ticket, displayId, ticketNow }
}

const REFUSED = { code: 'INVALID_INPUT', issues: [{ path: ['input', 'toTicket'] }] }

it('ROOM-77 sets the ticket’s estimate as the host, in the same change', async () => {
  const { room, host, story, displayId, ticketNow } = await ticketed()
  const { version } = await host.room(room)
  expect(await estimate(host, story, { estimate: '5', toTicket: true })).toMatchObject({
    room: { version: next(version) },
    story: { estimate: '5' },
  })
  expect(await ticketNow()).toEqual({ estimate: '5', changes: 1 })
  expect(asked).toEqual([[host.userId, displayId, '5']])
  expect(await world.facts({ room })).toEqual(['story.estimated'])
  await estimate(host, story, { estimate: null, toTicket: true })
  expect(await ticketNow()).toEqual({ estimate: null, changes: 2 })
})

it('ROOM-77 follows redirects', async () => {
  const { host, story, ticket, ticketNow } = await ticketed()
  await world.sql('UPDATE rooms.stories SET ref = $2 WHERE id = $1', [uuidOf(story), `OLD-${ticket}`])
  expect(await estimate(host, story, { estimate: '½', toTicket: true })).toMatchObject({ story: { estimate: '½' } })
  expect(await ticketNow()).toEqual({ estimate: '½', changes: 1 })
})

it('ROOM-77 touches no ticket without the flag', async () => {
  const { host, story, ticketNow } = await ticketed()
  for (const input of [{ estimate: '5' }, { estimate: '8', toTicket: false }]) await estimate(host, story, input)
  expect(asked).toEqual([])
  expect(await ticketNow()).toEqual({ estimate: null, changes: 0 })
})

it('ROOM-77 sets a ticket also when the story has that estimate already; the room has no new version then', async () => {
  const { room, host, story, ticketNow } = await ticketed()
  await estimate(host, story, { estimate: '5' })
  expect(await changes(world, room, () => estimate(host, story, { estimate: '5', toTicket: true }))).toBe(false)
  expect(await ticketNow()).toEqual({ estimate: '5', changes: 1 })
})

it('ROOM-77 a ticket that its host may not edit, or none, writes nothing anywhere', async () => {
  for (const setup of [{ editable: false }, { ref: 'NONE-1' }, { ref: 'some words' }, { ref: '' }]) {
    const { room, host, story, ticketNow } = await ticketed(setup)
    expect(
      await changes(world, room, async () => {
        expect(await estimate(host, story, { estimate: '5', toTicket: true })).toMatchObject(REFUSED)
      }),
    ).toBe(false)
    expect(await ticketNow()).toEqual({ estimate: null, changes: 0 })
  }
})

it('ROOM-77 whatever the port wrote before it refused, or failed, is undone', async () => {
  const { room, host, story, ticketNow } = await ticketed()
  for (const end of [
    async () => false,
    async () => Promise.reject(new NotFoundError('id')),
    async () => Promise.reject(new ForbiddenError()),
  ]) {
    registerTicketEstimates(async (caller, ticket) => {
      await standIn(caller, ticket)
      return end()
    })
    expect(
      await changes(world, room, async () => {
        expect(await estimate(host, story, { estimate: '5', toTicket: true })).toMatchObject(REFUSED)
      }),
    ).toBe(false)
  }
  registerTicketEstimates(async (caller, ticket) => {
    await standIn(caller, ticket)
    throw new Error('out of order')
  })
  expect(
    await changes(world, room, async () => {
      const { errors } = await host.attempt('storyEstimate', { id: story, estimate: '5', toTicket: true })
      expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }])
    }),
  ).toBe(false)
  expect(await ticketNow()).toEqual({ estimate: null, changes: 0 })
})

it('ROOM-2, ROOM-77 asks for the ticket with the room locked and the story written', async () => {
  const { room, host, story } = await ticketed()
  let seen: unknown
  registerTicketEstimates(async () => {
    const [own] = await sql`SELECT estimate FROM rooms.stories WHERE id = ${uuidOf(story)}`
    const locked = await world
      .sql('SELECT FROM rooms.rooms WHERE id = $1 FOR UPDATE NOWAIT', [room.uuid])
      .catch(({ code }) => code)
    seen = { own, locked }
    return true
  })
  await estimate(host, story, { estimate: '5', toTicket: true })
  expect(seen).toEqual({ own: { estimate: '5' }, locked: '55P03' })
})

it('ROOM-63, ROOM-77 asks for no ticket when the estimate is none, the room is done, or its caller no host', async () => {
  const { room, host, voters, story, ticket } = await ticketed()
  const others = [
    voters[0]!,
    world.owner,
    await world.guest(room),
    await world.viewer(),
    await world.agent(),
    await world.embedded(host),
    await world.outsider(),
    await world.otherOrg(),
  ]
  for (const person of others) {
    await world.sql('INSERT INTO desk.editors VALUES ($1, $2)', [ticket, person.userId])
    const { code } = await estimate(person, story, { estimate: '5', toTicket: true })
    expect(['FORBIDDEN', 'NOT_FOUND']).toContain(code)
  }
  expect(await estimate(host, story, { estimate: '?', toTicket: true })).toMatchObject({
    issues: [{ path: ['input', 'estimate'] }],
  })
  await host.mutate('roomEnd', { roomId: room.id })
  expect(await estimate(host, story, { estimate: '5', toTicket: true })).toMatchObject({ code: 'ROOM_ENDED' })
  expect(asked).toEqual([])
})

it('ROOM-77 two rooms of one ticket at once: both are written, one after the other', async () => {
  const one = await ticketed()
  const two = await ticketed({ ref: one.displayId })
  await world.sql('INSERT INTO desk.editors VALUES ($1, $2)', [one.ticket, two.host.userId])
  const both = await Promise.all([
    estimate(one.host, one.story, { estimate: '5', toTicket: true }),
    estimate(two.host, two.story, { estimate: '8', toTicket: true }),
  ])
  expect(both).toMatchObject([{ story: { estimate: '5' } }, { story: { estimate: '8' } }])
  expect(await one.ticketNow()).toMatchObject({ changes: 2 })
})
