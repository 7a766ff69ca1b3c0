import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import type { Caller } from '../../src/graphql/caller.ts'
import { updateMembership } from '../../src/identity/index.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const SET = 'voteWithdrawn member { spectator } space { mySpectator }'
const watch = (actor: Actor, room: TestRoom, spectator = true, userId?: string) =>
  actor.mutate('spaceSpectatorSet', { id: room.spaceId, spectator, userId }, SET)
const table =
  'version revealed: poker { revealed votedUserIds waitingFor { id } } participants { user { id } spectator }'
const typesOf = async (room: TestRoom) => (await world.events(room)).map(({ type }) => type)

/** The org's owner, as the use-cases of identity take them. */
const orgOwner = (): Caller => ({
  kind: 'session',
  orgId: world.org.id,
  userId: world.owner.userId,
  sessionId: world.owner.sessionId,
  account: 'registered',
  standing: 'OWNER',
  embedded: false,
})
const setOrgRole = (person: Actor, role: 'viewer' | 'member') =>
  operation('write', { orgId: world.org.id, userId: world.owner.userId }, () =>
    updateMembership(orgOwner(), { userId: person.userId, role }),
  )

it('ROOM-21 withdraws the vote of somebody who becomes a spectator, in all rooms of the space, and says so', async () => {
  const space = await world.space()
  const { room, voters } = await world.pokerRoom({ space, voters: 2 })
  const [voter, other] = voters as [Actor, Actor]
  const second = await world.pokerRoom({ space, host: voter })
  await voter.vote(room, '5')
  await other.vote(room, '8')
  await voter.vote(second.room, '3')

  expect(await watch(voter, room)).toMatchObject({
    voteWithdrawn: true,
    member: { spectator: true },
    space: { mySpectator: true },
  })
  const seen = await other.room(room, table)
  expect(seen.revealed.votedUserIds).toEqual([other.id])
  expect(seen.participants.find(({ user }: { user: { id: string } }) => user.id === voter.id).spectator).toBe(true)
  expect((await voter.room(second.room, table)).revealed.votedUserIds).toEqual([])
  expect(await typesOf(room)).toEqual(['VoteCast', 'VoteCast', 'VoteCleared', 'ParticipantChanged'])
  expect(await voter.vote(room, '5')).toMatchObject({ code: 'FORBIDDEN' })

  expect(await watch(voter, room)).toMatchObject({ voteWithdrawn: false })
  expect(await watch(voter, room, false)).toMatchObject({ voteWithdrawn: false, member: { spectator: false } })
  expect(await voter.vote(room, '5')).toMatchObject({ __typename: 'VoteCastPayload' })
  const facts = await world.facts({ space })
  expect(facts).toEqual(['space.spectator_set', 'space.spectator_set'])
})

it('ROOM-21 leaves revealed votes alone', async () => {
  const { room, host, voters } = await world.pokerRoom({ space: await world.space(), voters: 1 })
  await voters[0]!.vote(room, '5')
  await host.reveal(room)
  expect(await watch(voters[0]!, room)).toMatchObject({ voteWithdrawn: false })
  const shown = await host.room(room, 'poker { currentStory { votes { card user { id } } } }')
  expect(shown.poker.currentStory.votes).toEqual([{ card: '5', user: { id: voters[0]!.id } }])
})

it('ROOM-66 reveals a round that waited for the new spectator only', async () => {
  const { room, host, voters } = await world.pokerRoom({ space: await world.space(), voters: 1, autoReveal: true })
  await host.vote(room, '5')
  expect((await host.room(room, table)).revealed.revealed).toBe(false)
  await watch(voters[0]!, room)
  expect((await host.room(room, table)).revealed.revealed).toBe(true)
  expect(await typesOf(room)).toEqual(['VoteCast', 'ParticipantChanged', 'RoundRevealed'])
})

it('ROOM-21 is everybody’s own to say; owners say it for an agent', async () => {
  const space = await world.space()
  const [member, other] = [await world.member({ space }), await world.member({ space })]
  const { room } = await world.pokerRoom({ space })
  expect(await watch(world.owner, room, true, member.id)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await watch(member, room, true, other.id)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await watch(member, room, true, member.id)).toMatchObject({ member: { spectator: true } })
  expect(await watch(await world.outsider(), room)).toMatchObject({ code: 'NOT_FOUND' })
  expect(await watch(await world.guest(room), room)).toMatchObject({ code: 'NOT_FOUND' })
  expect(await watch(await world.embedded(other), room)).toMatchObject({ member: { spectator: true } })

  await world.sql(`UPDATE identity.users SET type = 'agent', account = 'agent', home_org_id = $2 WHERE id = $1`, [
    other.userId,
    world.org.id,
  ])
  expect(await watch(member, room, false, other.id)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await watch(world.owner, room, false, other.id)).toMatchObject({ member: { spectator: false } })
  expect(await watch(await world.embedded(), room, true, other.id)).toMatchObject({ code: 'FORBIDDEN' })
})

it('ROOM-21 withdraws a vote that is being cast while its voter becomes a spectator', async () => {
  const space = await world.space()
  const { room } = await world.pokerRoom({ space })
  const voter = await world.member({ space }) // votes without following the room, so nothing says where they are
  const held = await world.hold('SELECT FROM rooms.rooms WHERE id = $1 FOR UPDATE', [room.uuid])
  const cast = voter.vote(room, '5')
  await world.untilBlocked(1)
  const watched = watch(voter, room)
  await world.untilBlocked(2)
  await held.release()
  expect(await cast).toMatchObject({ __typename: 'VoteCastPayload' })
  expect(await watched).toMatchObject({ voteWithdrawn: true })
})

it('ROOM-4 makes a spectator of somebody once, however often they say so at once', async () => {
  const space = await world.space()
  const { room } = await world.pokerRoom({ space })
  const voter = await world.member({ space })
  await world.attend(room, voter)
  await voter.vote(room, '5')
  const told = await Promise.all(Array.from({ length: 6 }, () => watch(voter, room)))
  expect(told.filter(({ voteWithdrawn }) => voteWithdrawn)).toHaveLength(1)
  expect(await typesOf(room)).toEqual(['VoteCast', 'VoteCleared', 'ParticipantChanged'])
  expect((await world.facts({ room, space })).sort()).toEqual(['space.spectator_set', 'vote.cast', 'vote.cleared'])
})

it('ROOM-22 keeps viewers of the org spectators, whatever their flag says', async () => {
  const viewer = await world.viewer()
  const { room } = await world.pokerRoom()
  for (const actor of [viewer, await world.embedded(viewer)]) {
    expect(await watch(actor, room, false)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await actor.vote(room, '5')).toMatchObject({ code: 'FORBIDDEN' })
  }
})

it('ROOM-22 makes whoever becomes an org viewer a spectator, and takes the lead from them', async () => {
  const space = await world.space()
  const { room, host, voters } = await world.pokerRoom({ space, voters: 1, autoReveal: true })
  const [voter] = voters as [Actor]
  await host.vote(room, '5')
  await setOrgRole(host, 'viewer')
  const seen = await voter.room(room, `facilitator { id } ${table}`)
  expect(seen.facilitator.id).toBe(voter.id)
  expect(seen.revealed).toMatchObject({ revealed: false, votedUserIds: [], waitingFor: [{ id: voter.id }] })
  expect(await typesOf(room)).toEqual(['VoteCast', 'VoteCleared', 'ParticipantChanged', 'FacilitatorChanged'])

  await setOrgRole(host, 'member')
  expect((await voter.room(room, table)).participants[0]).toEqual({ user: { id: host.id }, spectator: false })
  expect((await typesOf(room)).at(-1)).toBe('ParticipantChanged')
  expect((await voter.room(room, 'facilitator { id }')).facilitator.id).toBe(voter.id)
})

it('ROOM-22 takes the lead, and nothing else, from a spectator who becomes an org viewer', async () => {
  const space = await world.space()
  const { room, host } = await world.pokerRoom({ space })
  await watch(host, room)
  const before = await typesOf(room)
  await setOrgRole(host, 'viewer')
  expect((await typesOf(room)).slice(before.length)).toEqual(['FacilitatorChanged'])
  expect((await world.owner.room(room, 'facilitator { id }')).facilitator.id).toBe(world.owner.id)
})
