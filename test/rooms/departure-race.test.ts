import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { revokeMembership } from '../../src/identity/membership/revoke-membership.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const remove = (userId: string) => world.owner.mutate('spaceMemberRemove', { id: world.home.id, userId })
const revoke = ({ userId }: Actor) => {
  const { orgId, userId: by, sessionId } = world.owner
  const person = { kind: 'session', account: 'registered', standing: 'OWNER', embedded: false } as const
  return operation('write', { orgId, userId: by }, () =>
    revokeMembership({ ...person, orgId, userId: by, sessionId }, { userId }),
  )
}
const ledBy = (userId: string) => world.sql('SELECT title FROM rooms.rooms WHERE facilitator_id = $1', [userId])

it('ROOM-23 leaves no room to somebody who is removed while they open it', async () => {
  const person = await world.member()
  const kinds = await world.hold('LOCK TABLE rooms.room_kinds IN ACCESS EXCLUSIVE MODE')
  const made = person.mutate('roomCreate', {
    spaceId: world.home.id,
    kind: 'poker',
    title: 'Mine',
    config: { poker: { deck: { preset: 'FIBONACCI' } } },
  })
  await world.untilBlocked(1)
  const removed = remove(person.id)
  await world.untilBlocked(2)
  await kinds.release()
  expect(await made).toMatchObject({ __typename: 'RoomCreatePayload' })
  expect(await removed).toMatchObject({ __typename: 'SpaceMemberRemovePayload' })
  expect(await ledBy(person.userId)).toEqual([])
})

it('ROOM-23 takes the lead back from somebody who is removed while they claim it', async () => {
  const { room } = await world.pokerRoom()
  await world.sql(`UPDATE rooms.rooms SET facilitator_seen_at = now() - interval '61 seconds' WHERE id = $1`, [
    room.uuid,
  ])
  const person = await world.member() // follows no room, so nothing says where they are
  const events = await world.hold('LOCK TABLE rooms.room_events IN ACCESS EXCLUSIVE MODE')
  const claimed = person.mutate('roomFacilitatorClaim', { roomId: room.id })
  await world.untilBlocked(1)
  const removed = remove(person.id)
  await world.untilBlocked(2)
  await events.release()
  expect(await claimed).toMatchObject({ __typename: 'RoomFacilitatorClaimPayload' })
  expect(await removed).toMatchObject({ __typename: 'SpaceMemberRemovePayload' })
  expect(await ledBy(person.userId)).toEqual([])
})

it.each([
  ['join it', (person: Actor) => person.mutate('spaceJoin', { slug: world.home.slug })],
  ['are added', ({ id }: Actor) => world.owner.mutate('spaceMemberAdd', { id: world.home.id, userId: id })],
  ['make it', (person: Actor) => person.mutate('spaceCreate', { slug: 'theirs', name: 'Theirs' })],
])('ROOM-18 leaves no space to somebody whose membership of the org ends while they %s', async (_how, enter) => {
  const person = await world.member({ space: null })
  const members = await world.hold('LOCK TABLE rooms.space_members IN SHARE ROW EXCLUSIVE MODE')
  const entered = enter(person)
  await world.untilBlocked(1)
  const revoked = revoke(person)
  await world.untilBlocked(2)
  await members.release()
  expect((await entered).code).toBeUndefined()
  await revoked
  expect(await world.sql('SELECT role FROM rooms.space_members WHERE user_id = $1', [person.userId])).toEqual([])
})

it('ROOM-18 lets nobody into a space whose membership of the org is about to end', async () => {
  const person = await world.member({ space: null })
  const ending = await world.hold('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [
    person.userId,
  ])
  const added = world.owner.mutate('spaceMemberAdd', { id: world.home.id, userId: person.id })
  await world.untilBlocked(1)
  await ending.release()
  expect(await added).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'userId'] })
})
