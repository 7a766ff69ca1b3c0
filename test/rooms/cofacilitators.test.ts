import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import type { Caller } from '../../src/graphql/caller.ts'
import { revokeMembership } from '../../src/identity/index.ts'
import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'
import { idsOf, next, open } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const COHOSTS = 'room { version cofacilitators { id } }'
const name = (person: Actor, room: TestRoom, who: { id: string }, on = true): Promise<Outcome> =>
  person.mutate(
    'roomCofacilitatorSet',
    { roomId: room.id, userId: who.id, on },
    COHOSTS,
    '... on LimitReachedError { limit }',
  )
const cohostsOf = async (room: TestRoom): Promise<string[]> => {
  const rows = await world.sql<{ user_id: string }>(
    'SELECT user_id FROM rooms.room_participants WHERE room_id = $1 AND cofacilitator ORDER BY user_id',
    [room.uuid],
  )
  return rows.map(({ user_id }) => user_id)
}
const setTo = (room: TestRoom, on: boolean) =>
  world.sql('UPDATE rooms.room_participants SET cofacilitator = $2 WHERE room_id = $1', [room.uuid, on])

it('ROOM-45 the facilitator lets participants lead beside them, and no longer', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 2 })
  const [first, second] = voters as [Actor, Actor]
  const { version } = await host.room(room)
  expect(await name(host, room, second)).toMatchObject({
    room: { version: next(version), cofacilitators: [{ id: second.id }] },
  })
  expect(idsOf((await name(host, room, first))['room'].cofacilitators)).toEqual(idsOf(voters))
  expect((await name(host, room, second, false))['room'].cofacilitators).toEqual([{ id: first.id }])

  expect(await world.events(room)).toEqual([
    { version: next(version), type: 'CofacilitatorsChanged', payload: { userIds: [second.userId] } },
    {
      version: next(version, 2n),
      type: 'CofacilitatorsChanged',
      payload: { userIds: [first.userId, second.userId] },
    },
    { version: next(version, 3n), type: 'CofacilitatorsChanged', payload: { userIds: [first.userId] } },
  ])
  const facts = await world.sql(
    'SELECT event_type, deliverable, payload FROM platform.audit_events WHERE room_id = $1 ORDER BY id',
    [room.uuid],
  )
  const set = (userId: string, on: boolean) => ({
    event_type: 'room.cofacilitator_set',
    deliverable: false,
    payload: { userId, on },
  })
  expect(facts).toEqual([set(second.userId, true), set(first.userId, true), set(second.userId, false)])
  expect(
    await changes(world, room, async () => {
      await name(host, room, first)
      await name(host, room, second, false)
    }),
  ).toBe(false)
})

it('ROOM-40, ROOM-45 a co-facilitator hosts in everything but handing over, naming others and deleting', async () => {
  const { room, host, voters, stories } = await world.pokerRoom({ voters: 2, stories: 3 })
  const [cohost, member] = voters as [Actor, Actor]
  await name(host, room, cohost)
  const does = async (mutation: string, input: object) =>
    expect(await cohost.mutate(mutation, input), mutation).toMatchObject({
      __typename: expect.stringMatching(/Payload$/),
    })

  await does('roomRename', { roomId: room.id, title: 'Theirs' })
  await does('roomConfigSet', { roomId: room.id, change: { openVoting: true } })
  await does('roomTimerStart', { roomId: room.id, seconds: 60, onEnd: 'NONE' })
  await does('roomTimerExtend', { roomId: room.id, seconds: 60 })
  await does('roomTimerStop', { roomId: room.id })
  await open(cohost, room, stories[1]!)
  await does('roomReveal', { roomId: room.id, roundVersion: room.round.roundVersion })
  await does('roomReset', { roomId: room.id })
  await does('roomQuickVote', { roomId: room.id })
  await does('storyImport', { roomId: room.id, csv: 'title\nImported' })
  await does('storyUpdate', { id: stories[0], title: 'New' })
  await does('storyMove', { id: stories[0], afterId: stories[1] })
  await does('storyEstimate', { id: stories[0], estimate: '5' })
  await does('storyDelete', { id: stories[2] })
  expect(
    await changes(world, room, async () => {
      for (const [mutation, input] of [
        ['roomFacilitatorHandOver', { roomId: room.id, userId: member.id }],
        ['roomFacilitatorHandOver', { roomId: room.id, userId: cohost.id }],
        ['roomCofacilitatorSet', { roomId: room.id, userId: member.id, on: true }],
        ['roomCofacilitatorSet', { roomId: room.id, userId: cohost.id, on: false }],
        ['roomDelete', { id: room.id }],
      ] as const) {
        expect(await cohost.mutate(mutation, input), mutation).toMatchObject({ code: 'FORBIDDEN' })
      }
      expect(await (await world.embedded(cohost)).mutate('roomReset', { roomId: room.id })).toMatchObject({
        code: 'FORBIDDEN',
      })
    }),
  ).toBe(false)
  await does('roomEnd', { roomId: room.id })
  await does('roomReopen', { roomId: room.id })
  await name(host, room, cohost, false)
  expect(await cohost.mutate('roomReset', { roomId: room.id })).toMatchObject({ code: 'FORBIDDEN' })
})

it('ROOM-45 there are five at most, also when two are named at once', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 6 })
  for (const voter of voters.slice(0, 4)) await name(host, room, voter)
  const both = await Promise.all(voters.slice(4).map((voter) => name(host, room, voter)))
  expect(both.map(({ __typename }) => __typename).sort()).toEqual(['LimitReachedError', 'RoomCofacilitatorSetPayload'])
  expect(both.find(({ code }) => code)).toMatchObject({ code: 'LIMIT_REACHED', limit: 5 })
  expect(await cohostsOf(room)).toHaveLength(5)
  // One who goes makes place.
  await name(host, room, voters[0]!, false)
  const rest = voters[both.findIndex(({ code }) => code) + 4]!
  expect(await name(host, room, rest)).toMatchObject({ __typename: 'RoomCofacilitatorSetPayload' })
})

it('ROOM-45 are participants who may host, of this room', async () => {
  const { room, host } = await world.pokerRoom()
  const attending = async (person: Actor) => {
    await world.attend(room, person)
    return person
  }
  const mayNot = [
    await attending(await world.viewer()),
    await attending(await world.agent()),
    await attending(await world.guest(room)),
  ]
  const notThere = [
    await world.member(), // of the space, but never came
    await world.member({ space: null }),
    await world.outsider(),
    await world.otherOrg(),
  ]
  expect(
    await changes(world, room, async () => {
      for (const person of mayNot) expect(await name(host, room, person)).toMatchObject({ code: 'FORBIDDEN' })
      for (const person of notThere) {
        expect(await name(host, room, person)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'userId'] })
      }
    }),
  ).toBe(false)
  expect(await name(host, room, await attending(await world.anonymous()))).toMatchObject({
    __typename: 'RoomCofacilitatorSetPayload',
  })
  expect(await name(host, room, await attending(await world.member({ spectator: true })))).toMatchObject({
    __typename: 'RoomCofacilitatorSetPayload',
  })
})

it('ROOM-45 the flag of somebody who cannot come any more is taken away, and not given again', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const [gone] = voters as [Actor]
  await name(host, room, gone)
  await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [gone.userId])
  expect(await name(host, room, gone, false)).toMatchObject({ room: { cofacilitators: [] } })
  expect(await name(host, room, gone)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await host.mutate('roomFacilitatorHandOver', { roomId: room.id, userId: gone.id })).toMatchObject({
    code: 'FORBIDDEN',
  })
})

it('ROOM-40 nobody but the facilitator names them, and not in a meeting client', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const inside = [
    voters[0]!,
    world.owner,
    await world.viewer(),
    await world.anonymous(),
    await world.agent(),
    await world.guest(room),
    await world.embedded(host),
  ]
  const outside = [
    await world.member({ space: null, role: 'admin' }),
    await world.outsider(),
    await world.otherOrg(),
    await world.guest((await world.pokerRoom()).room),
  ]
  expect(
    await changes(world, room, async () => {
      for (const person of inside) expect(await name(person, room, voters[0]!)).toMatchObject({ code: 'FORBIDDEN' })
      for (const person of outside) {
        expect(await name(person, room, voters[0]!)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'roomId'] })
      }
      await host.mutate('roomEnd', { roomId: room.id })
      expect(await name(host, room, voters[0]!)).toMatchObject({ code: 'ROOM_ENDED' })
      await host.mutate('roomReopen', { roomId: room.id })
    }),
  ).toBe(true) // ended and reopened
  expect(await cohostsOf(room)).toEqual([])
})

it('ROOM-45 the flag falls when they leave the space, in rooms that have ended too, and does not come back', async () => {
  const space = await world.space()
  const { room, host, voters } = await world.pokerRoom({ space, voters: 2 })
  const { room: ended } = await world.pokerRoom({ space, host })
  const [leaver, other] = voters as [Actor, Actor]
  await world.attend(ended, leaver)
  await world.depart(ended, leaver)
  for (const each of [room, ended]) await name(host, each, leaver)
  await name(host, room, other)
  await host.mutate('roomEnd', { roomId: ended.id })

  await leaver.mutate('spaceLeave', { id: space.id })
  expect(await cohostsOf(room)).toEqual([other.userId])
  expect(await cohostsOf(ended)).toEqual([])
  expect((await world.events(room)).slice(-2)).toMatchObject([
    { type: 'ParticipantLeft', payload: { userId: leaver.userId, reason: 'LEFT' } },
    { type: 'CofacilitatorsChanged', payload: { userIds: [other.userId] } },
  ])
  expect((await world.facts({ room })).slice(-2)).toEqual(['room.participant_left', 'room.cofacilitator_set'])

  await world.join(leaver, { space })
  await world.attend(room, leaver)
  expect(await leaver.mutate('roomReset', { roomId: room.id })).toMatchObject({ code: 'FORBIDDEN' })
})

it('ROOM-45 the flag falls when their membership of the org ends', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await name(host, room, voters[0]!)
  const by: Caller = {
    kind: 'session',
    orgId: world.org.id,
    userId: world.owner.userId,
    sessionId: world.owner.sessionId,
    account: 'registered',
    standing: 'OWNER',
    embedded: false,
  }
  await operation('write', { orgId: world.org.id, userId: world.owner.userId }, () =>
    revokeMembership(by, { userId: voters[0]!.userId }),
  )
  expect(await cohostsOf(room)).toEqual([])
})

it('ROOM-22, ROOM-45 the flag falls when they become a viewer of the org, and a member again does not host', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const [cohost] = voters as [Actor]
  const { room: ended } = await world.pokerRoom({ host })
  await world.attend(ended, cohost)
  await world.depart(ended, cohost)
  for (const each of [room, ended]) await name(host, each, cohost)
  await host.mutate('roomEnd', { roomId: ended.id })

  await world.owner.mutate('memberUpdate', { userId: cohost.id, role: 'VIEWER' })
  for (const each of [room, ended]) {
    expect(await cohostsOf(each)).toEqual([])
    expect((await world.events(each)).filter(({ type }) => type === 'CofacilitatorsChanged').at(-1)).toMatchObject({
      payload: { userIds: [] },
    })
  }
  await world.owner.mutate('memberUpdate', { userId: cohost.id, role: 'MEMBER' })
  expect(await cohost.mutate('roomReset', { roomId: room.id })).toMatchObject({ code: 'FORBIDDEN' })
})

it('ROOM-23, ROOM-45 whoever is named while they leave, or become a viewer, has no flag afterwards', async () => {
  const space = await world.space()
  const goers: [string, (person: Actor) => Promise<Outcome>][] = [
    ['leaves', (person) => person.mutate('spaceLeave', { id: space.id })],
    ['views', (person) => world.owner.mutate('memberUpdate', { userId: person.id, role: 'VIEWER' })],
  ]
  for (const [what, go] of goers) {
    const goer = await world.member({ space })
    const { room: first } = await world.pokerRoom({ space })
    await world.attend(first, goer)
    const { room, host } = await world.pokerRoom({ space })
    await world.attend(room, goer)
    // Rooms are locked one after the other: they are on their way to this one.
    const held = await world.hold('SELECT FROM rooms.rooms WHERE id = $1 FOR UPDATE', [first.uuid])
    const going = go(goer)
    await world.untilBlocked()
    const named = await name(host, room, goer)
    expect(named.code, what).toBeUndefined()
    expect(await cohostsOf(room)).toEqual([goer.userId])
    await held.release()
    expect((await going).code, what).toBeUndefined()
    expect(await cohostsOf(room), what).toEqual([])
    expect(await name(host, room, goer), what).toMatchObject({ code: what === 'views' ? 'FORBIDDEN' : 'NOT_FOUND' })
  }
})

it('ROOM-51 the cap on participants takes no co-facilitator', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await name(host, room, voters[0]!)
  await world.sql(
    `WITH people AS (
       INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
       SELECT platform.new_id(), 'human', 'anonymous', $1, 'P', 'active' FROM generate_series(1, 198) RETURNING id
     ), members AS (
       INSERT INTO rooms.space_members (org_id, space_id, user_id) SELECT $1, $2, id FROM people
     )
     INSERT INTO rooms.room_participants (org_id, room_id, user_id, joined_at)
     SELECT $1, $3, id, now() + interval '1 hour' FROM people`,
    [room.orgId, world.home.uuid, room.uuid],
  )
  const late = await world.member()
  await late.mutate('roomHeartbeat', { roomId: room.id, connectionId: crypto.randomUUID() })
  expect(await cohostsOf(room)).toEqual([voters[0]!.userId])
  const [{ count }] = (await world.sql<{ count: number }>(
    'SELECT count(*)::int AS count FROM rooms.room_participants WHERE room_id = $1',
    [room.uuid],
  )) as [{ count: number }]
  expect(count).toBe(200)
})

it('ROOM-43 the longest-joined present co-facilitator follows the facilitator who leaves', async () => {
  const space = await world.space()
  const { room, host, voters } = await world.pokerRoom({ space, voters: 4 })
  const [member, away, first, second] = voters as [Actor, Actor, Actor, Actor]
  for (const cohost of [second, first, away]) await name(host, room, cohost)
  await world.depart(room, away)
  await host.mutate('spaceLeave', { id: space.id })
  expect((await first.room(room, 'facilitator { id }')).facilitator.id).toBe(first.id)
  await setTo(room, false)
  await first.mutate('spaceLeave', { id: space.id })
  expect((await member.room(room, 'facilitator { id }')).facilitator.id).toBe(member.id)
})

it('ROOM-45, ROOM-172 everybody in the room hears who leads', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const guest = await world.guest(room)
  const query = `subscription ($roomId: ID!) { roomEvents(roomId: $roomId) { __typename version
    ... on CofacilitatorsChanged { userIds } ... on FacilitatorChanged { facilitatorId previousId reason } } }`
  const streams = [voters[0]!, guest].map(({ client }) =>
    openRoomStream({ url: `${world.app.url}/graphql`, token: client.token!, variables: { roomId: room.id }, query }),
  )
  for (const stream of streams) await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
  await name(host, room, voters[0]!)
  await host.mutate('roomFacilitatorHandOver', { roomId: room.id, userId: voters[0]!.id })
  for (const stream of streams) {
    expect(await stream.next(({ __typename }) => __typename === 'CofacilitatorsChanged')).toMatchObject({
      userIds: [voters[0]!.id],
    })
    expect(await stream.next(({ __typename }) => __typename === 'FacilitatorChanged')).toMatchObject({
      facilitatorId: voters[0]!.id,
      previousId: host.id,
      reason: 'HANDOVER',
    })
    stream.close()
  }
})
