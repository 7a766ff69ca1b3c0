import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import type { Caller } from '../../src/graphql/caller.ts'
import { revokeMembership } from '../../src/identity/index.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const typesOf = async (room: TestRoom) => (await world.events(room)).map(({ type }) => type)
const lastOf = async (room: TestRoom, type: string) =>
  (await world.events(room)).filter((event) => event.type === type).at(-1)?.payload

const orgOwner = (): Caller => ({
  kind: 'session',
  orgId: world.org.id,
  userId: world.owner.userId,
  sessionId: world.owner.sessionId,
  account: 'registered',
  standing: 'OWNER',
  embedded: false,
})
const revoke = (person: Actor) =>
  operation('write', { orgId: world.org.id, userId: world.owner.userId }, () =>
    revokeMembership(orgOwner(), { userId: person.userId }),
  )

it('ROOM-23 takes whoever leaves a space out of its rooms; their votes stay', async () => {
  const space = await world.space()
  const { room, host, voters, stories } = await world.pokerRoom({ space, voters: 2, stories: 2, openVoting: true })
  const [leaver, other] = voters as [Actor, Actor]
  for (const [story, person] of [
    [0, leaver],
    [0, other],
    [1, leaver],
  ] as const) {
    await world.sql(
      `INSERT INTO rooms.round_voters (org_id, room_id, story_id, user_id)
       SELECT org_id, room_id, id, $2 FROM rooms.stories WHERE room_id = $1 ORDER BY position OFFSET $3 LIMIT 1`,
      [room.uuid, person.userId, story],
    )
  }
  await leaver.vote(room, '5')

  const left = await leaver.mutate('spaceLeave', { id: space.id }, 'spaceId')
  expect(left.spaceId).toBe(space.id)
  expect(await leaver.room(room)).toBeNull()
  const seen = await host.room(
    room,
    'participants { user { id } } presentUserIds poker { votedUserIds waitingFor { id } }',
  )
  expect(seen.participants.map(({ user }: { user: { id: string } }) => user.id)).toEqual([host.id, other.id])
  expect(seen.presentUserIds.sort()).toEqual([host.id, other.id].sort())
  expect(seen.poker).toEqual({ votedUserIds: [leaver.id], waitingFor: [{ id: other.id }] })
  expect(await typesOf(room)).toEqual(['VoteCast', 'ParticipantLeft', 'RoundVotersChanged'])
  expect(await lastOf(room, 'ParticipantLeft')).toEqual({ userId: leaver.userId, reason: 'LEFT' })
  expect(await world.sql('SELECT FROM rooms.round_voters WHERE user_id = $1', [leaver.userId])).toEqual([])
  expect(await world.facts({ space })).toEqual(['space.member_left'])
  expect(stories).toHaveLength(2)
})

it('ROOM-22 lets everybody in a space leave it: viewers, anonymous people, people in a meeting client', async () => {
  const space = await world.space()
  const inMeeting = await world.member({ space })
  const leavers = [await world.viewer({ space }), await world.anonymous({ space }), await world.embedded(inMeeting)]
  for (const leaver of leavers) {
    expect(await leaver.mutate('spaceLeave', { id: space.id })).toMatchObject({ __typename: 'SpaceLeavePayload' })
    expect(await leaver.mutate('spaceLeave', { id: space.id })).toMatchObject({ code: 'NOT_FOUND' })
  }
  const { room } = await world.pokerRoom({ space })
  for (const stranger of [await world.outsider(), await world.otherOrg(), await world.guest(room)]) {
    expect(await stranger.mutate('spaceLeave', { id: space.id })).toMatchObject({ code: 'NOT_FOUND' })
  }
  expect(await world.facts({ space })).toEqual(Array(3).fill('space.member_left'))
})

it('ROOM-23 leaves the voters of revealed rounds as they were', async () => {
  const { room, host, voters } = await world.pokerRoom({ space: await world.space(), voters: 1, openVoting: true })
  await host.mutate('roomReset', { roomId: room.id })
  const round = { ...room.round, roundVersion: String(Number(room.round.roundVersion) + 1) }
  await voters[0]!.vote(room, '5', round)
  await host.reveal(room, round)
  await voters[0]!.mutate('spaceLeave', { id: room.spaceId })
  expect(await world.sql('SELECT FROM rooms.round_voters WHERE user_id = $1', [voters[0]!.userId])).toHaveLength(1)
})

it('ROOM-23 ends the streams of whoever was removed, within a second', async () => {
  const { room, voters } = await world.pokerRoom({ space: await world.space(), voters: 2 })
  const streams = voters.map((voter) =>
    openRoomStream({ url: `${world.app.url}/graphql`, token: voter.client.token!, variables: { roomId: room.id } }),
  )
  const [gone, staying] = streams as [(typeof streams)[0], (typeof streams)[0]]
  await Promise.all(streams.map((stream) => stream.next(({ __typename }) => __typename === 'RoomSnapshot')))

  const removed = world.owner.mutate('spaceMemberRemove', { id: room.spaceId, userId: voters[0]!.id }, 'userId')
  expect((await removed).userId).toBe(voters[0]!.id)
  const since = Date.now()
  await expect.poll(() => gone.closed, { interval: 5 }).toBeTruthy()
  expect(Date.now() - since).toBeLessThan(1_000)
  await staying.next(({ __typename }) => __typename === 'ParticipantLeft')
  expect(staying.closed).toBeUndefined()
  expect(gone.events.some(({ __typename }) => __typename === 'ParticipantLeft')).toBe(false)
  for (const stream of streams) stream.close()
  expect(await lastOf(room, 'ParticipantLeft')).toEqual({ userId: voters[0]!.userId, reason: 'REMOVED' })
})

it('ROOM-66 reveals the round that waited for nobody but the one who left', async () => {
  const { room, host, voters } = await world.pokerRoom({ space: await world.space(), voters: 1, autoReveal: true })
  await host.vote(room, '5')
  await voters[0]!.mutate('spaceLeave', { id: room.spaceId })
  expect(await typesOf(room)).toEqual(['VoteCast', 'ParticipantLeft', 'RoundRevealed'])
})

it('ROOM-18 removes a person from all spaces with their membership of the org, the last owner too', async () => {
  const owner = await world.member({ space: null })
  const [own, other] = [await world.space({ owner }), await world.space()]
  await world.join(owner, { space: other })
  const { room } = await world.pokerRoom({ space: other, host: owner })
  const member = await world.member({ space: own })
  await world.attend(room, world.owner)

  await revoke(owner)
  expect(await world.sql('SELECT FROM rooms.space_members WHERE user_id = $1', [owner.userId])).toEqual([])
  expect(await lastOf(room, 'ParticipantLeft')).toEqual({ userId: owner.userId, reason: 'REVOKED' })
  expect((await world.owner.room(room, 'facilitator { id }')).facilitator.id).toBe(world.owner.id)
  expect((await member.run('query ($id: ID!) { space(id: $id) { abandoned } }', { id: own.id })).space.abandoned).toBe(
    true,
  )
  expect(await world.facts({ space: own })).toEqual(['space.member_removed'])

  // Coming back opens nothing silently.
  await world.sql('UPDATE identity.memberships SET revoked_at = NULL, revoked_by = NULL WHERE user_id = $1', [
    owner.userId,
  ])
  expect(await world.sql('SELECT FROM rooms.space_members WHERE user_id = $1', [owner.userId])).toEqual([])
})

it('ROOM-43 leads on: the co-facilitator present for longest, then a present member, then an owner, then nobody', async () => {
  const owner = await world.member({ space: null })
  const space = await world.space({ owner })
  const { room, host, voters } = await world.pokerRoom({ space, voters: 4 })
  const [watcher, first, co, absent] = voters as [Actor, Actor, Actor, Actor]
  await world.sql(`UPDATE identity.memberships SET role = 'viewer' WHERE user_id = $1`, [watcher.userId])
  await world.sql('UPDATE rooms.room_participants SET cofacilitator = true WHERE user_id = ANY ($1)', [
    [watcher.userId, co.userId, absent.userId],
  ])
  await world.depart(room, absent)
  const lead = async () => (await owner.room(room, 'facilitator { id }')).facilitator?.id ?? null

  await host.mutate('spaceLeave', { id: space.id })
  expect(await lead()).toBe(co.id)
  await co.mutate('spaceLeave', { id: space.id })
  expect(await lead()).toBe(first.id)
  expect(await lastOf(room, 'FacilitatorChanged')).toEqual({
    facilitatorId: first.userId,
    previousId: co.userId,
    reason: 'AUTO',
  })

  const late = await world.member({ space, spaceRole: 'owner' })
  await world.sql(`UPDATE rooms.space_members SET last_seen_at = now() - interval '1 day' WHERE user_id = $1`, [
    owner.userId,
  ])
  await first.mutate('spaceLeave', { id: space.id })
  expect(await lead()).toBe(late.id) // nobody who may host is present, so the owner seen latest leads
  await world.sql(`UPDATE identity.memberships SET role = 'viewer' WHERE user_id = $1`, [owner.userId])
  await late.mutate('spaceLeave', { id: space.id })
  expect(await lead()).toBeNull()
})

it('ROOM-24 leaves no ended room to be led by whoever departed', async () => {
  const space = await world.space()
  const { room, host } = await world.pokerRoom({ space })
  await host.mutate('roomEnd', { roomId: room.id })
  await host.mutate('spaceLeave', { id: space.id })
  expect((await world.owner.room(room, 'facilitator { id }')).facilitator.id).toBe(world.owner.id)
  await world.sql('DELETE FROM identity.users WHERE id = $1', [host.userId])
})

it('ROOM-23 lets nobody slip in while they are removed', async () => {
  const space = await world.space()
  const person = await world.member({ space })
  const { room } = await world.pokerRoom({ space })
  const held = await world.hold('DELETE FROM rooms.space_members WHERE user_id = $1', [person.userId])
  const connectionId = '00000000-0000-4000-8000-000000000001'
  const late = person.mutate('roomHeartbeat', { roomId: room.id, connectionId })
  await world.untilBlocked()
  await held.release()
  expect(await late).toMatchObject({ code: 'NOT_FOUND' })
  expect(await world.sql('SELECT FROM rooms.room_presence WHERE user_id = $1', [person.userId])).toEqual([])

  // And the other way round: who attaches first is found by the removal that waited for it.
  const second = await world.member({ space })
  const attaching = await world.hold('SELECT FROM rooms.space_members WHERE user_id = $1 FOR KEY SHARE', [
    second.userId,
  ])
  const removal = world.owner.mutate('spaceMemberRemove', { id: space.id, userId: second.id })
  await world.untilBlocked()
  await world.attend(room, second)
  await attaching.release()
  expect(await removal).toMatchObject({ __typename: 'SpaceMemberRemovePayload' })
  expect(await world.sql('SELECT FROM rooms.room_presence WHERE user_id = $1', [second.userId])).toEqual([])
})
