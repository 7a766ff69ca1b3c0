import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const remove = (userId: string) => world.owner.mutate('spaceMemberRemove', { id: world.home.id, userId })
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
